/** Fails if a Markdown file links to a file, folder or heading of this repository that does not exist. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brokenLinks } from './markdown-links.ts';

const root = join(import.meta.dirname, '..');
// Untracked files count too: a page is checked before it is committed.
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '');
const faults = brokenLinks(files, (file) => readFileSync(join(root, file), 'utf8'));
for (const { file, line, link, reason } of faults) console.error(`${file}:${line}: ${link}: ${reason}`);
if (faults.length > 0) process.exit(1);
