/**
 * Writes packages/console/src/generated/api.d.ts, the types of the whole API, from the OpenAPI document that the service serves. `--check`
 * only says whether it is up to date.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type ApiDocument, apiDocument, type Operation } from './api-document.ts';

const TYPES = join(import.meta.dirname, '../packages/console/src/generated/api.d.ts');
/** The console's own, because it needs a TypeScript older than the one that checks this tree. */
const GENERATOR = join(import.meta.dirname, '../packages/console/node_modules/openapi-typescript/bin/cli.js');

/** Every refusal of the management API has one type: written out for each status of each route, they were nine tenths of the file. */
function slim(document: ApiDocument): object {
  const refusal = {
    description: 'Refused.',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
  const paths = Object.fromEntries(
    Object.entries(document.paths).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, operation]) => [method, { ...operation, responses: answersOf(path, operation.responses) }]),
      ),
    ]),
  );
  return { ...document, paths, components: { ...document.components, responses: { Refusal: refusal } } };
}
function answersOf(path: string, responses: Operation['responses']): object {
  const refused = (status: string) => path.startsWith('/v1/admin/') && Number(status) >= 400;
  return Object.fromEntries(
    Object.entries(responses).map(([status, { headers: _headers, ...answer }]) => [
      status,
      refused(status) ? { $ref: '#/components/responses/Refusal' } : answer,
    ]),
  );
}

async function generate(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-api-'));
  try {
    const [document, types] = [join(folder, 'openapi.json'), join(folder, 'api.d.ts')];
    writeFileSync(document, JSON.stringify(slim(await apiDocument())));
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [GENERATOR, document, '--default-non-nullable=false', '--output', types],
      { encoding: 'utf8' },
    );
    if (status !== 0) throw new Error(`openapi-typescript failed:\n${stdout}${stderr}`);
    return readFileSync(types, 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const text = await generate();
if (process.argv.includes('--check')) {
  if (current() !== text) {
    console.error('packages/console/src/generated/api.d.ts is stale: run node scripts/generate-api-client.ts');
    process.exit(1);
  }
} else {
  mkdirSync(dirname(TYPES), { recursive: true });
  writeFileSync(TYPES, text);
}

function current(): string | undefined {
  try {
    return readFileSync(TYPES, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
