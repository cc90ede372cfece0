import type { Cause, Outcome } from '@osworld-e2b/contracts'
import { counted } from './format.ts'
import { type Html, html, nothing, relativeUrl } from './html.ts'
import type { AttemptModel, RunModel, TrialModel } from './run-model.ts'
import { type Standing, standingOf, standings } from './standing.ts'

const titles: Readonly<Record<Standing, string>> = {
  unscored: 'Without a score',
  zero: 'Reward 0',
  partial: 'Reward between 0 and 1',
  solved: 'Reward 1',
  unfinished: 'Not run to the end yet',
}

const countedTitles: Readonly<Record<Standing, string>> = {
  unscored: 'without a score',
  zero: 'with reward 0',
  partial: 'with a reward between 0 and 1',
  solved: 'with reward 1',
  unfinished: 'not run to the end yet',
}

interface Page {
  /** Path of the run folder from the page's folder. */
  readonly folder: string
  readonly screen: { readonly width: number; readonly height: number }
  readonly trials: number
}

/** How many trials stand where, each a link to its section. */
export function trialSummary(trials: readonly TrialModel[]): Html {
  return html`<ul class="summary">
${groupsOf(trials).map(({ standing, members }) => html`<li><a href="#${standing}"><b class="${standing}">${members.length}</b> ${countedTitles[standing]}</a></li>`)}
</ul>`
}

export function trialSections({ trials, contract: { scoring } }: RunModel, folder: string): Html {
  const page = { folder, screen: scoring.screen, trials: scoring.trials }
  return html`${groupsOf(trials).map((group) => section(group, page))}`
}

interface Group {
  readonly standing: Standing
  readonly members: readonly TrialModel[]
}

function groupsOf(trials: readonly TrialModel[]): readonly Group[] {
  return standings.map((standing) => ({ standing, members: trials.filter((trial) => standingOf(trial) === standing) })).filter(({ members }) => members.length > 0)
}

function section({ standing, members }: Group, page: Page): Html {
  return html`<section>
<h2 id="${standing}"><span class="${standing}">${titles[standing]}</span> <small>${counted(members.length, page.trials === 1 ? 'task' : 'trial')}</small></h2>
<div class="card scrolls" role="region" aria-labelledby="${standing}" tabindex="0">
<table class="trials">
<thead><tr><th scope="col" class="task">Task</th><th scope="col">Outcome</th><th scope="col" class="number">Steps</th><th scope="col" class="number">Seconds</th><th scope="col" class="picture">Last screenshot</th></tr></thead>
${members.map((trial) => trialRows(trial, page))}
</table>
</div>
</section>`
}

/** One row an attempt, the latest first, since that is the one that decided. */
function trialRows(trial: TrialModel, page: Page): Html {
  const name = `${trial.domain}/${trial.id}${page.trials === 1 ? '' : `, trial ${trial.trial}`}`
  const asked = trial.instruction === undefined ? nothing : html`<p class="message">${trial.instruction}</p>`
  const head = html`<th scope="rowgroup" class="task" rowspan="${Math.max(1, trial.attempts.length)}"><bdi>${name}</bdi>${asked}</th>`
  if (trial.attempts.length === 0) return html`<tbody><tr>${head}<td>not started</td><td class="number"></td><td class="number"></td><td class="soft">none</td></tr></tbody>`
  const rows = trial.attempts.toReversed().map((attempt, index) => html`<tr>${index === 0 ? head : nothing}${attemptCells(attempt, name, page)}</tr>`)
  return html`<tbody>${rows}</tbody>`
}

function attemptCells(attempt: AttemptModel, name: string, page: Page): Html {
  const { end } = attempt
  return html`<td>${end === undefined ? html`not ended yet` : outcome(end.outcome)}
${end?.isCleanupFailed === true ? html`<p class="bad">Its clean-up failed.</p>` : nothing}
${files(attempt, name, page)}</td>
<td class="number">${end?.steps ?? ''}</td><td class="number">${end?.seconds.toFixed(1) ?? ''}</td>
<td class="picture">${picture(attempt, name, page)}</td>`
}

function files({ attempt, folder, isFolderThere }: AttemptModel, name: string, page: Page): Html {
  const text = `files of attempt ${attempt}`
  if (!isFolderThere) return html`<p class="soft">no ${text}</p>`
  return html`<p><a href="${inRun(page, folder)}/" aria-label="${text} at ${name}">${text}</a></p>`
}

function picture({ attempt, folder, screenshot }: AttemptModel, name: string, page: Page): Html {
  if (screenshot === undefined) return html`<span class="soft">none</span>`
  const { width, height } = page.screen
  const alt = `Screen ${screenshot.moment} of attempt ${attempt} at ${name}`
  return html`<a href="${inRun(page, folder)}/"><img src="${inRun(page, screenshot.path)}" alt="${alt}" loading="lazy" decoding="async" width="${width}" height="${height}"></a>
<p><a href="${inRun(page, screenshot.path)}" aria-label="${screenshot.moment}, full size, attempt ${attempt} at ${name}">${screenshot.moment}</a></p>`
}

function inRun({ folder }: Page, path: string): string {
  return relativeUrl(`${folder}/${path}`)
}

function outcome(of: Outcome): Html {
  if (of.kind === 'valid') return html`reward <b class="${standingOf({ reward: of.reward, attempts: [] })}">${of.reward}</b>`
  const later = of.later ?? []
  return html`<span class="unscored">no score</span>: ${cause(of)}${later.map((next) => html`<div>then ${cause(next)}</div>`)}`
}

function cause({ reason, phase, message }: Cause): Html {
  return html`<b>${reason}</b>${phase === undefined ? '' : ` in ${phase}`}${messageText(message)}`
}

const shownLength = 200

/** A long message is folded to its beginning, so that a traceback does not hide the other tasks. */
function messageText(message: string): Html {
  const text = message.trim()
  const [firstLine = ''] = text.split('\n')
  if (text === '') return nothing
  if (firstLine === text && text.length <= shownLength) return html`<p class="message">${text}</p>`
  return html`<details><summary class="message">${firstLine.slice(0, shownLength)} …</summary><p class="message">${text}</p></details>`
}
