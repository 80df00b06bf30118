/**
 * `npm run capture-vendors -- --out <dir>`: forty standard events through the whole service to every vendor that speaks HTTP. Writes one
 * file per vendor with the requests and the outcome of every event, and an index. With `--compare` it sends the events of every case too,
 * compares all captured requests with the cases and the definitions, prints the differences, and fails if there is one.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadVendors, VENDOR_KEYS } from '@firsthand/catalog/index.ts';
import type { Received } from '../harness/receiver.ts';
import { type CapturedVendor, captureStandardEvents, standardDifferences } from './capture-standard.ts';
import { casesOf, compareCases } from './compare-cases.ts';
import { parsed } from './difference.ts';
import { STANDARD_EVENTS } from './events.ts';

/** Set by the HTTP client, or different in every run. */
const NOISE = new Set(['host', 'connection', 'content-length', 'accept', 'accept-encoding', 'keep-alive', 'transfer-encoding']);
const { values } = parseArgs({
  options: { out: { type: 'string' }, compare: { type: 'boolean', default: false }, vendor: { type: 'string', multiple: true } },
});
const unknown = (values.vendor ?? []).filter((key) => !VENDOR_KEYS.includes(key));
if ((values.out === undefined && !values.compare) || unknown.length > 0) {
  if (unknown.length > 0) console.error(`There is no vendor ${unknown.join(', ')}.`);
  console.error('usage: npm run capture-vendors -- [--out <dir>] [--compare] [--vendor <key>]…');
  process.exit(1);
}
const keys = values.vendor ?? VENDOR_KEYS;
const vendors = (await loadVendors(keys)).filter(({ transport }) => !transport);
const captured = await captureStandardEvents(vendors);
if (values.out !== undefined) write(values.out, captured);
if (values.compare) process.exitCode = (await compare()) ? 0 : 1;

async function compare(): Promise<boolean> {
  const standard = captured.flatMap(standardDifferences);
  const cases = await compareCases(await casesOf(keys));
  const different = [...cases, ...standard].filter(({ differences }) => differences.length > 0);
  for (const { title, differences } of different) console.error(`${title}\n${differences.map((line) => `  ${line}`).join('\n')}`);
  console.log(
    `${vendors.length} vendors: ${cases.length} cases and ${standard.length} standard events compared, ${different.length} differ.`,
  );
  return different.length === 0;
}

function write(out: string, all: readonly CapturedVendor[]): void {
  mkdirSync(out, { recursive: true });
  const rows = all.map(({ vendor, events }) => {
    const outcomes = Object.entries(events).map(([id, { status, reason, requests }]) => [
      id,
      { status, reason, requests: requests.map(readable) },
    ]);
    writeFileSync(
      join(out, `${vendor.key}.json`),
      `${JSON.stringify({ vendor: vendor.key, events: Object.fromEntries(outcomes) }, null, 2)}\n`,
    );
    const every = Object.values(events);
    const delivered = every.filter(({ status }) => status === 'delivered').length;
    const reasons = every.flatMap(({ status, reason }) => (status === 'delivered' ? [] : [reason ?? status]));
    const counted = [...Map.groupBy(reasons, (reason) => reason)].map(([reason, some]) => `${reason} ${some.length}`);
    const requests = every.reduce((sum, one) => sum + one.requests.length, 0);
    return `| ${vendor.key} | ${vendor.status} | ${requests} | ${delivered} | ${counted.join(', ')} |`;
  });
  const head = ['| vendor | status | requests | delivered | others |', '|---|---|---|---|---|'];
  const title = `# Captured requests\n\n${STANDARD_EVENTS.length} events to ${all.length} vendors.`;
  writeFileSync(join(out, 'index.md'), `${title}\n\n${[...head, ...rows].join('\n')}\n`);
  console.log(`${all.length} vendors: ${out}`);
}

function readable({ method, path, headers, body }: Received) {
  const own = Object.fromEntries(Object.entries(headers).filter(([name]) => !NOISE.has(name)));
  return { method, path, headers: own, body: parsed(body) };
}
