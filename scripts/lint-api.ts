/** Runs Redocly's `recommended` and Spectral's `spectral:oas` rules on the OpenAPI document that the service serves. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import spectral from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { type ApiDocument, apiDocument } from './api-document.ts';

interface Finding {
  rule: string;
  /** `get /healthz`; a place outside of the operations as a JSON pointer. */
  place: string;
  message: string;
}

/** Findings that describe the API as it is, with the reason. Remove one that is no longer found. */
const ACCEPTED: Record<string, Record<string, string>> = {
  'redocly operation-2xx-response': {
    'get /v1/oauth/callback': 'Redirects.',
    'get /v1/admin/auth/oidc/start': 'Redirects.',
    'get /v1/admin/auth/oidc/callback': 'Redirects.',
    'get /v1/admin/debug/live': 'Switches to WebSocket (101).',
  },
  'spectral operation-success-response': {
    'get /v1/admin/debug/live': 'Switches to WebSocket (101).',
  },
};

async function redocly(document: ApiDocument): Promise<Finding[]> {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-lint-'));
  try {
    const file = join(folder, 'openapi.json');
    writeFileSync(file, JSON.stringify(document));
    const { stdout } = await promisify(execFile)(
      'redocly',
      ['lint', '--extends=recommended', '--format=json', '--max-problems=1000', '--lint-config=off', file],
      { env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }, maxBuffer: 50_000_000 },
      // Errors among the findings make it exit with 1.
    ).catch((error: { code?: unknown; stdout?: string }) => {
      if (error.code !== 1 || !error.stdout) throw error;
      return { stdout: error.stdout };
    });
    const { problems } = JSON.parse(stdout) as { problems: { ruleId: string; message: string; location: { pointer: string }[] }[] };
    return problems.map(({ ruleId, message, location }) => ({
      rule: `redocly ${ruleId}`,
      place: placeOf(location[0]?.pointer ?? ''),
      message,
    }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function spectralOas(document: ApiDocument): Promise<Finding[]> {
  const linter = new spectral.Spectral();
  // The package's own rules do not fit its own type, which wants `extends` in a set of rules.
  linter.setRuleset({ extends: rulesets.oas } as unknown as spectral.RulesetDefinition);
  // A copy: the linter resolves references in place.
  const results = await linter.run(structuredClone(document) as unknown as Record<string, unknown>);
  return results.map(({ code, message, path }) => ({
    rule: `spectral ${code}`,
    place: placeOf(`#/${path.map((key) => String(key).replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`),
    message,
  }));
}

/** Of a JSON pointer. */
function placeOf(pointer: string): string {
  const [, top, path, method] = pointer.split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return top === 'paths' && path !== undefined && method !== undefined ? `${method} ${path}` : pointer;
}

const document = await apiDocument();
const findings = [...(await redocly(document)), ...(await spectralOas(document))];
const seen = new Set(findings.map(({ rule, place }) => `${rule} ${place}`));
const stale = Object.entries(ACCEPTED).flatMap(([rule, places]) =>
  Object.keys(places)
    .map((place) => `${rule} ${place}`)
    .filter((each) => !seen.has(each)),
);
const faults = findings.filter(({ rule, place }) => ACCEPTED[rule]?.[place] === undefined);
for (const { rule, place, message } of faults) console.error(`${rule} at ${place}: ${message}`);
for (const each of stale) console.error(`accepted, but no longer found: ${each}`);
if (faults.length + stale.length > 0) process.exit(1);
