/** The page's own style: no file or font is fetched, and colours follow the reader's system, with contrast of 4.5 or more. */
export const css = `
:root {
  color-scheme: light dark;
  --ink: #1c2330; --soft: #566072; --line: #dde1e8; --page: #f5f6f8; --card: #ffffff; --head: #fafbfc;
  --good: #17693a; --bad: #a3261b; --warn: #7a5200; --warn-line: #d9a43b; --link: #1d4fa8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6e9ef; --soft: #a4adbb; --line: #323945; --page: #13161b; --card: #1b1f26; --head: #20252d;
    --good: #6fcf97; --bad: #ff9c8f; --warn: #f0c36a; --warn-line: #8f6a1c; --link: #8fb8ff;
  }
}
* { box-sizing: border-box }
body { margin: 0; padding: 2.5rem 1.25rem 4rem; background: var(--page); color: var(--ink); font: 0.9375rem/1.5 system-ui, "Segoe UI", Cantarell, sans-serif }
main, footer { max-width: 74rem; margin: 0 auto }
footer { margin-top: 2rem; color: var(--soft) }
h1 { margin: 0; font-size: 1.75rem; line-height: 1.25; overflow-wrap: anywhere }
h2 { margin: 2.5rem 0 .75rem; font-size: 1.125rem; scroll-margin-top: 1rem }
h2 small { font-size: .875rem; font-weight: 400; color: var(--soft); margin-left: .35rem }
header p { margin: .25rem 0 }
p { margin: .35rem 0 }
a { color: var(--link); text-underline-offset: .15em }
a:focus-visible, summary:focus-visible, .scrolls:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
.soft { color: var(--soft) }
.good, .solved { color: var(--good) }
.bad, .zero, .unscored { color: var(--bad) }
.warn, .partial { color: var(--warn) }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem }
section.card { margin: 1.5rem 0 1rem; padding: 1.1rem 1.25rem }
.note { margin: .75rem 0; padding: .65rem 1rem; border-left: .25rem solid var(--warn-line) }
.note b { color: var(--warn) }
.score { display: flex; flex-wrap: wrap; gap: .75rem 3rem; margin: 0 }
.score dt { color: var(--soft) }
.score dd { margin: 0; color: var(--soft) }
.score b { display: block; color: var(--ink); font-size: 2.25rem; font-weight: 650; line-height: 1.15; font-variant-numeric: tabular-nums }
.summary { display: flex; flex-wrap: wrap; gap: .35rem 1.5rem; margin: .9rem 0 0; padding: .8rem 0 0; border-top: 1px solid var(--line); list-style: none }
.scrolls { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
th, td { padding: .6rem 1rem; text-align: left; vertical-align: top; border-top: 1px solid var(--line) }
thead th { border-top: 0; background: var(--head); color: var(--soft); font-size: .8125rem; font-weight: 600; white-space: nowrap }
tfoot > tr > * { background: var(--head); font-weight: 600 }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.domains { table-layout: fixed; min-width: 34rem }
.domains tbody th { font-weight: 400 }
.trials { table-layout: fixed; min-width: 56rem }
.trials .task { width: 33% }
.trials .number { width: 5.75rem }
.trials .picture { width: 16.5rem }
tbody th { font-weight: 600; overflow-wrap: anywhere }
td p:first-child { margin-top: 0 }
.message { margin: .2rem 0; font-weight: 400; color: var(--soft); white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate }
summary.message { cursor: pointer; white-space: normal }
.picture img { display: block; width: 100%; height: auto; border: 1px solid var(--line); border-radius: .25rem; background: var(--page) }
.picture p { font-size: .8125rem }
.facts { margin: 0; padding: .75rem 1.25rem }
.facts div { display: grid; grid-template-columns: 11rem 1fr; gap: 1rem; padding: .2rem 0 }
.facts dt { color: var(--soft) }
.facts dd { margin: 0; overflow-wrap: anywhere }
@media (max-width: 40rem) { .facts div { grid-template-columns: 1fr; gap: 0 } body { padding: 1.25rem .75rem 3rem } }
@media print { body { background: none; padding: 0 } .scrolls { overflow: visible } .trials { min-width: 0 } tr { break-inside: avoid } }
`
