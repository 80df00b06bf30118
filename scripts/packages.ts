/** Who may import whom. The order is the rule: a package imports only what stands in its list, and `core` only itself. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

const MAY_IMPORT: Record<string, string[]> = {
  core: [],
  catalog: ['core'],
  collector: ['core', 'catalog'],
  server: ['core', 'catalog', 'collector', 'console'],
  console: ['core', 'catalog'],
  cli: ['server', 'core'],
};
const root = join(import.meta.dirname, '..', 'packages');
const faults: string[] = [];

for (const [name, allowed] of Object.entries(MAY_IMPORT)) {
  for (const file of filesOf(join(root, name))) {
    const text = readFileSync(file, 'utf8');
    for (const [, target] of text.matchAll(/from '@firsthand\/([a-z]+)[/']/g))
      if (target !== name && !allowed.includes(target!)) faults.push(`${relative(root, file)}: ${name} must not import ${target}`);
    const isTest = /\.test\.ts$|\/test\//.test(file);
    if (name === 'core' && !isTest && /from 'node:/.test(text)) faults.push(`${relative(root, file)}: core must not import Node's modules`);
    if (/\/roles\/(ingest|process|deliver|admin)\//.test(file) && !isTest) {
      const role = /\/roles\/([a-z]+)\//.exec(file)![1];
      for (const [, other] of text.matchAll(/from '[./]*\/(?:roles\/)?(ingest|process|deliver|admin)\//g))
        if (other !== role && /roles\//.test(text)) faults.push(`${relative(root, file)}: role ${role} must not import role ${other}`);
    }
  }
}
if (faults.length > 0) {
  console.error(faults.join('\n'));
  process.exit(1);
}

function filesOf(folder: string): string[] {
  return readdirSync(folder).flatMap((entry) => {
    const path = join(folder, entry);
    if (entry === 'node_modules') return [];
    if (statSync(path).isDirectory()) return filesOf(path);
    return /\.tsx?$/.test(entry) ? [path] : [];
  });
}
