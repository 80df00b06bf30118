import type { Setting } from '../../packages/server/src/config/setting.ts';
import { SETTING_GROUPS } from '../../packages/server/src/config/table.ts';
import { code, generatedFrom, type Page, table } from './page.ts';

function defaultOf(setting: Setting<unknown>): string {
  if (typeof setting.default === 'object') return setting.default.shown;
  return setting.default === undefined ? (setting.unset ?? '–') : code(setting.default);
}

export function settingsPages(): Page[] {
  const sections = Object.entries(SETTING_GROUPS).map(([heading, group]) => {
    const rows = Object.values(group).map((setting) => [
      code(setting.variable),
      defaultOf(setting),
      setting.meaning,
      setting.parser.expected,
    ]);
    return `## ${heading}\n\n${table(['variable', 'default', 'meaning', 'accepts'], rows)}\n`;
  });
  const text = `${generatedFrom('packages/server/src/config/groups')}# Settings

Settings are environment variables. An empty variable counts as unset. Bad values stop the start: the service prints one line for
each fault, naming the variable, and exits with code 1. So does a setting that has no effect without another one, such as
\`SMTP_FROM\` without \`SMTP_URL\`. The variables of OpenTelemetry may be set without an endpoint: platforms set some of them for every program.

${sections.join('\n')}`;
  return [{ file: 'docs/reference/settings.md', text }];
}
