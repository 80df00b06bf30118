/** Fails where a file imports what it must not: `node scripts/check-boundaries.ts [root]`. The rules: boundaries/rules.ts. */
import { join } from 'node:path';
import { violations } from './boundaries/rules.ts';
import { readTree } from './boundaries/source-tree.ts';

const tree = readTree(process.argv[2] ?? join(import.meta.dirname, '..'));
if (tree.files.size === 0) throw new Error('no source files found');
const found = violations(tree);
for (const { from, line, rule, message } of found) console.error(`${from}:${line}: ${message} (${rule})`);
if (found.length > 0) process.exit(1);
