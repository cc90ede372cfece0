import type { Aggregate, Score } from '@osworld-e2b/contracts'
import { counted, moment, ratio } from './format.ts'
import { type Html, html, htmlText, nothing, styleElement } from './html.ts'
import { notes } from './render-notes.ts'
import { trialSections, trialSummary } from './render-trials.ts'
import type { RunModel } from './run-model.ts'
import { css } from './style.ts'

export interface RenderReportOptions {
  /** Path of the run folder from the page's folder, for its links; the page lies in the run folder unless said. */
  readonly folder?: string
}

/** One HTML page, whole in itself but for the pictures of the run folder; no script, and nothing from any network. */
export function renderReport(model: RunModel, { folder = '' }: RenderReportOptions = {}): string {
  const { document, aggregate } = model
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self' file:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>${document.run_id}: score ${ratio(aggregate.score_declared)}, coverage ${ratio(aggregate.coverage)}${aggregate.complete ? '' : ', not complete'}</title>
${styleElement(css)}
</head>
<body>
<main>
${heading(model)}
${score(model)}
${notes(model)}
${domains(aggregate)}
${trialSections(model, folder)}
${facts(model)}
</main>
<footer>Written ${moment(aggregate.updated_at)} from the ledger of the run.${aggregate.complete ? '' : ' What happened later is not on this page.'}</footer>
</body>
</html>
`
  return htmlText(page)
}

function heading({ document, contract: { scoring } }: RunModel): Html {
  const trials = scoring.trials === 1 ? '' : ` × ${counted(scoring.trials, 'trial')}`
  return html`<header>
<p class="soft">OSWorld run</p>
<h1>${document.run_id}</h1>
<p class="soft">Suite ${scoring.suite}, ${counted(scoring.tasks.length, 'task')}${trials}, agent ${agentText(scoring.agent)}, started ${moment(document.created_at)}</p>
</header>`
}

/** One block, so that no one quotes or crops the score without its coverage. */
function score(model: RunModel): Html {
  const { aggregate } = model
  return html`<section class="card" aria-label="Score">
<dl class="score">
<div><dt>Score</dt><dd><b>${ratio(aggregate.score_declared)}</b> over all ${counted(aggregate.planned_tasks, 'planned task')}</dd></div>
<div><dt>Coverage</dt><dd><b>${ratio(aggregate.coverage)}</b> ${aggregate.valid_tasks} of ${counted(aggregate.planned_tasks, 'task')} valid</dd></div>
</dl>
${validOnly(aggregate)}
${trialSummary(model.trials)}
</section>`
}

/** Of use only to see what is missing; it stands small, and not at all when it says the same. */
function validOnly({ complete, valid_tasks, score_valid, planned_tasks }: Aggregate): Html {
  if (complete || valid_tasks === 0) return nothing
  return html`<p class="soft">Over the ${counted(valid_tasks, 'valid task')} alone it would be ${ratio(score_valid)}; that says nothing about the other ${planned_tasks - valid_tasks} of ${planned_tasks}.</p>`
}

function domains(aggregate: Aggregate): Html {
  const rows = Object.entries(aggregate.domains).map(([domain, of]) => html`<tr><th scope="row">${domain}</th>${scoreCells(of)}</tr>`)
  return html`<section>
<h2 id="domains">Domains</h2>
<div class="card scrolls" role="region" aria-labelledby="domains" tabindex="0">
<table class="domains">
<thead><tr><th scope="col">Domain</th><th scope="col" class="number">Score</th><th scope="col" class="number">Coverage</th><th scope="col" class="number">Valid tasks</th><th scope="col" class="number">Planned tasks</th></tr></thead>
<tbody>
${rows}
</tbody>
<tfoot><tr><th scope="row">All</th>${scoreCells(aggregate)}</tr></tfoot>
</table>
</div>
</section>`
}

function scoreCells({ score_declared, coverage, valid_tasks, planned_tasks }: Pick<Score, 'score_declared' | 'coverage' | 'valid_tasks' | 'planned_tasks'>): Html {
  return html`<td class="number">${ratio(score_declared)}</td><td class="number">${ratio(coverage)}</td><td class="number">${valid_tasks}</td><td class="number">${planned_tasks}</td>`
}

function facts({ document, contract: { scoring, operation } }: RunModel): Html {
  const { runtime, upstream } = document
  const rows: readonly (readonly [string, string])[] = [
    ['Agent', `${agentText(scoring.agent)}, at most ${counted(scoring.max_steps, 'step')}`],
    ['OSWorld', `${upstream.name} ${upstream.version}, profile ${scoring.profile}`],
    ['Source', sourceText(upstream)],
    ['Upstream SHA-256', upstream.sha256],
    ['Template', scoring.template],
    ['Screen', `${scoring.screen.width} × ${scoring.screen.height}`],
    ['Timing', scoring.timing],
    ['Trials of each task', String(scoring.trials)],
    ['Proxy', scoring.enable_proxy ? 'enabled' : 'not enabled'],
    ['Route', `${operation.route.kind}${operation.route.final ? ', final' : ''}, ${operation.num_envs} at a time`],
    ['Made with', `osworld-e2b ${runtime.osworld_e2b}, Node ${runtime.node}, Python ${runtime.python}, ${runtime.platform}`],
    ['Scoring SHA-256', document.contract.scoring_sha256],
  ]
  return html`<section>
<h2>What was run</h2>
<dl class="card facts">
${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
</dl>
</section>`
}

/** How sure it is that this code is the source of its profile's figures. */
function sourceText({ repository, provenance }: RunModel['document']['upstream']): string {
  const from = repository === undefined ? 'the package index' : repository
  switch (provenance) {
    case undefined:
    case 'verified_official_upstream':
      return from
    case 'inferred_from_run_date':
      return `${from}; that this commit is the source of the profile's figures is inferred from a date, not authenticated`
    case 'unverified':
      return `${from}; unverified: not one of this project's profiles`
  }
}

function agentText(agent: RunModel['contract']['scoring']['agent']): string {
  switch (agent.kind) {
    case 'none':
      return agent.kind
    case 'scripted':
      return `${agent.kind} (${agent.scripts})`
    case 'upstream_runner':
      return `${agent.runner} with ${agent.model}`
    case 'module':
      return `${agent.class} with ${agent.model}`
    case 'upstream':
      return `${agent.name} with ${agent.model}`
    case 'http':
      return [agent.name, agent.version].filter((part) => part !== undefined).join(' ')
  }
}
