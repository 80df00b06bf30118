import { CONFIGURATION_BUDGET, COUNT_BUDGET, ORGANISATION_BUDGET } from '../../packages/core/src/config/budget.ts';
import { code, generatedFrom, type Page, table } from './page.ts';

const COUNTED: Record<keyof typeof CONFIGURATION_BUDGET, string> = {
  values: 'fields and list items, at any depth',
  pattern_steps: 'steps of all regular expressions; a usual one has 10 to 50, a repetition `{n}` counts n times',
  template_tags: '`{{…}}` in all texts',
  target_parts: 'parts of the targets of all mappings (`a.b` has two); those of `global` count for each entry of `events`',
  characters: 'characters of all texts and field names',
};

const NUMBERED: Record<keyof typeof COUNT_BUDGET, string> = {
  organisation_templates: 'integration templates of an organisation; deleted ones do not count',
  template_revisions: 'revisions of one template: create another template to go on',
};

function rows(budget: Record<string, number>): string[][] {
  return Object.entries(budget).map(([name, most]) => {
    const part = name.replace('organisation_', '') as keyof typeof CONFIGURATION_BUDGET;
    return [code(name), most.toLocaleString('en-US'), COUNTED[part]];
  });
}

export function budgetPages(): Page[] {
  const text = `${generatedFrom('packages/core/src/config/budget.ts')}# Budgets of configurations

Budgets bound what a configuration costs every other user of the service. A write that exceeds one gets 422 \`VALIDATION_ERROR\`; its
message names the budget. The same document is accepted or refused on every machine, whatever its load.

## One document

The body of a request: an integration's config, a tracking plan, a transformation, a webhook source, the data layer.

${table(['budget', 'at most', 'counts'], rows(CONFIGURATION_BUDGET))}

## All documents of an organisation

What is in use: the data layer, tracking plans, transformations, webhook sources, and the configs of assigned integrations. A config that
several integrations use counts for each. Revisions that no integration uses do not count. \`organisation_characters\` bounds what every
process holds in memory, so pipelines (their parameters, lists and settings) and the event filters of integrations count towards it too, and each
pipeline, integration, transformation, webhook source, tracking plan and data layer counts 1,000 more than its characters: an organisation has at
most 50,000 of them. An organisation above a budget can still make its configuration smaller. If stored configurations
exceed a budget, the newest pieces are disabled and report the reason. A pipeline itself stays enabled.

${table(['budget', 'at most', 'counts'], rows(ORGANISATION_BUDGET))}

## Counts

How many of these may be stored. They are not held in memory, so only their number counts, not their size.

${table(
  ['budget', 'at most', 'counts'],
  Object.entries(COUNT_BUDGET).map(([name, most]) => [
    code(name),
    most.toLocaleString('en-US'),
    NUMBERED[name as keyof typeof COUNT_BUDGET],
  ]),
)}
`;
  return [{ file: 'docs/reference/budgets.md', text }];
}
