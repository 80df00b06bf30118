import { COMMANDS } from '../../packages/cli/src/commands.ts';
import { generatedFrom, type Page } from './page.ts';

export function cliPages(): Page[] {
  const sections = COMMANDS.map(({ words, options, summary, details }) =>
    [
      `## ${words}`,
      '',
      '```sh',
      ['npx firsthand', words, options].filter(Boolean).join(' '),
      '```',
      '',
      `${summary}.`,
      ...(details ? ['', details] : []),
      '',
    ].join('\n'),
  );
  const text = `${generatedFrom('packages/cli/src/commands.ts')}# Command line

\`npx firsthand <command>\` in the checkout. \`DATA_DIR\`, \`DATABASE_URL\` and \`SECRET_KEY\` select the installation, as they do for the
service; see [settings](settings.md). Results are printed on standard output as JSON, errors on standard error. The exit code is 0 on
success and 1 on failure. \`--help\` lists the commands, \`<command> --help\` explains one, and \`--version\` prints the version.

${sections.join('\n')}`;
  return [{ file: 'docs/reference/cli.md', text: `${text.trimEnd()}\n` }];
}
