/** Writes the pages of docs/ that are generated from code. With `--check` it writes nothing and fails if a page is stale. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { budgetPages } from './docs/budgets.ts';
import { cliPages } from './docs/cli.ts';
import { decisionPages } from './docs/decisions.ts';
import { errorPages } from './docs/errors.ts';
import { integrationPages } from './docs/integrations.ts';
import { metricsPages } from './docs/metrics.ts';
import { settingsPages } from './docs/settings.ts';
import { transformPages } from './docs/transforms.ts';
import { vendorFormatPages } from './docs/vendor-format.ts';
import { webhookSourcePages } from './docs/webhook-sources.ts';

const root = join(import.meta.dirname, '..');
const pages = [
  ...settingsPages(),
  ...errorPages(),
  ...budgetPages(),
  ...transformPages(),
  ...metricsPages(),
  ...cliPages(),
  ...decisionPages(),
  ...integrationPages(),
  ...webhookSourcePages(),
  ...vendorFormatPages(),
];

function current(file: string): string | undefined {
  try {
    return readFileSync(join(root, file), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const stale = pages.filter(({ file, text }) => current(file) !== text);
if (!process.argv.includes('--check')) {
  for (const { file, text } of stale) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
    console.log(`wrote ${file}`);
  }
} else if (stale.length > 0) {
  for (const { file } of stale) console.error(`${file} is stale: run node scripts/generate-docs.ts`);
  process.exit(1);
}
