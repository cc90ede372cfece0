// No wizard, no welcome pages, no calls home: for the profile of the image and for profiles that tasks bring.
pref("app.donation.eoy.version.viewed", 999);
pref("app.update.auto", false);
pref("app.update.enabled", false);
pref("browser.messaging-system.whatsNewPanel.enabled", false);
pref("datareporting.healthreport.uploadEnabled", false);
pref("datareporting.policy.dataSubmissionEnabled", false);
pref("datareporting.policy.dataSubmissionPolicyBypassNotification", true);
pref("extensions.getAddons.cache.enabled", false);
pref("mail.inappnotifications.enabled", false);
pref("mail.provider.suppress_dialog_on_startup", true);
pref("mail.rights.version", 1);
pref("mail.spotlight.firstRunDone", true);
pref("mailnews.start_page.enabled", false);
pref("mailnews.start_page_override.mstone", "ignore");
pref("toolkit.telemetry.reportingpolicy.firstRun", false);
