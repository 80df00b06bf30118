/**
 * Writes the table of vendor modules, which are loaded on demand, and the index that the catalog lists, from the vendor folders. With
 * `--check` it writes nothing and fails if a file is stale, or if the default API version of a vendor has ended.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CatalogListEntry } from '@firsthand/catalog/index.ts';
import { endedDefault } from '@firsthand/core/vendor/versions.ts';

const vendors = join(import.meta.dirname, '../packages/catalog/src/vendors');
const keys = readdirSync(vendors, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'shared' && entry.name !== 'generated')
  .map(({ name }) => name)
  .sort();

const HEAD = '// Written by scripts/generate-vendor-list.ts. Do not edit.\n';

function modules(): string {
  const lines = keys.map((key) => `  ${key}: { vendor: () => import('../${key}/vendor.ts'), cases: () => import('../${key}/cases.ts') },`);
  return `${HEAD}import type { VendorDefinition } from '@firsthand/core/vendor/definition.ts';
import type { VendorCases } from '../shared/cases.ts';

interface VendorModule {
  vendor(): Promise<{ default: VendorDefinition }>;
  cases(): Promise<{ default: VendorCases }>;
}

export const VENDOR_MODULES: Readonly<Record<string, VendorModule>> = {
${lines.join('\n')}
};
`;
}

/** JSON, because it is parsed in milliseconds: as a module it was compiled for a quarter of a second when the catalog was first listed. */
function index(entries: readonly CatalogListEntry[]): string {
  return `[\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}\n]\n`;
}

function current(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // not written yet
  }
}

const check = process.argv.includes('--check');

/** Writes the file if it is stale; with `--check` it fails instead. */
function update(file: string, text: string): void {
  if (current(file) === text) return;
  if (check) {
    console.error(`${file} is stale: run node scripts/generate-vendor-list.ts`);
    process.exit(1);
  }
  mkdirSync(join(vendors, 'generated'), { recursive: true });
  writeFileSync(file, text);
}

update(join(vendors, 'generated/modules.ts'), modules());
// Only now: the catalog imports the table that was just written.
const { catalogListEntry, loadVendors } = await import('@firsthand/catalog/index.ts');
const definitions = await loadVendors();
const misplaced = definitions.filter(({ key }, index) => key !== keys[index]);
if (misplaced.length > 0) throw new Error(`folder and key differ: ${misplaced.map(({ key }) => key).join(', ')}`);
update(join(vendors, 'generated/index.json'), index(definitions.map(catalogListEntry)));
const ended = definitions.flatMap((vendor) => {
  const reason = endedDefault(vendor, Date.now());
  return reason ? [`vendor ${vendor.key}: ${reason}`] : [];
});
for (const message of ended) console.error(message);
if (check && ended.length > 0) process.exit(1);
