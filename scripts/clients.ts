/**
 * `npm run clients [typescript] [python] [go]`: generates clients from the OpenAPI document into `clients/`, starts the service on a
 * temporary folder, and lets each client sign in, list the pipelines and create one. Needs python3 and go, and a network for the generators.
 */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { signIn } from '../e2e/harness/client.ts';
import { OWNER, startService } from '../e2e/harness/service.ts';
import { apiDocument } from './api-document.ts';
import { run } from './run.ts';

const ROOT = join(import.meta.dirname, '..');
const OUT = join(ROOT, 'clients');
const DOCUMENT = join(OUT, 'openapi.json');
const PYTHON_GENERATOR = 'openapi-python-client==0.29.1';
const GO_GENERATOR = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.1';

interface Language {
  /** What its example calls the pipeline it creates. */
  pipeline: string;
  generate(folder: string): Promise<void>;
  /** Runs the example of `examples/clients`, which is copied beside the generated code. */
  example(folder: string, env: Record<string, string>): Promise<void>;
}

const LANGUAGES: Record<string, Language> = {
  typescript: {
    pipeline: 'Made with TypeScript',
    async generate(folder) {
      const generator = join(ROOT, 'packages/console/node_modules/openapi-typescript/bin/cli.js');
      // A field with a default may be left out of a request.
      await must('node', [generator, DOCUMENT, '--default-non-nullable=false', '--output', `${folder}/api.d.ts`]);
    },
    async example(folder, env) {
      const compilerOptions = { noEmit: true, strict: true, allowImportingTsExtensions: true, module: 'nodenext', types: ['node'] };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['main.ts'] }));
      await must('tsc', ['-p', folder]);
      await must('node', [join(folder, 'main.ts')], env);
    },
  },
  python: {
    pipeline: 'Made with Python',
    async generate(folder) {
      const venv = join(OUT, '.venv');
      await must('python3', ['-m', 'venv', venv]);
      await must(`${venv}/bin/pip`, ['install', '--quiet', PYTHON_GENERATOR]);
      const args = ['generate', '--path', DOCUMENT, '--output-path', `${folder}/firsthand`, '--meta', 'none', '--overwrite'];
      // It formats what it generates with a tool of its own environment.
      await must(`${venv}/bin/openapi-python-client`, args, { PATH: `${venv}/bin${delimiter}${process.env.PATH}` });
    },
    example: (folder, env) => must(join(OUT, '.venv/bin/python'), [join(folder, 'main.py')], env),
  },
  go: {
    pipeline: 'Made with Go',
    async generate(folder) {
      await must('go', ['install', GO_GENERATOR], { GOBIN: join(OUT, '.bin') });
      mkdirSync(join(folder, 'firsthand'));
      const args = ['-generate', 'types,client', '-package', 'firsthand', '-o', `${folder}/firsthand/client.go`, DOCUMENT];
      await must(join(OUT, '.bin/oapi-codegen'), args);
      writeFileSync(join(folder, 'go.mod'), 'module example.com/clients\n\ngo 1.24\n');
    },
    async example(folder, env) {
      await must('go', ['-C', folder, 'mod', 'tidy']);
      await must('go', ['-C', folder, 'run', '.'], env);
    },
  },
};

async function must(command: string, args: string[], env: Record<string, string> = {}): Promise<void> {
  const code = await run(command, args, env);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed (exit ${code})`);
}

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(LANGUAGES, name));
if (unknown.length > 0) throw new Error(`unknown language: ${unknown.join(', ')} (known: ${Object.keys(LANGUAGES).join(', ')})`);
const chosen = Object.entries(LANGUAGES).filter(([name]) => asked.length === 0 || asked.includes(name));

mkdirSync(OUT, { recursive: true });
writeFileSync(DOCUMENT, JSON.stringify(await apiDocument()));
for (const [name, { generate }] of chosen) {
  console.log(`\n▶ generate the client for ${name}`);
  const folder = join(OUT, name);
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(ROOT, 'examples/clients', name), folder, { recursive: true });
  await generate(folder);
}
const service = await startService();
try {
  const owner = await signIn(service);
  const env = { FIRSTHAND_URL: service.url, FIRSTHAND_EMAIL: OWNER.email, FIRSTHAND_PASSWORD: OWNER.password };
  for (const [name, { example, pipeline }] of chosen) {
    console.log(`\n▶ sign in, list and create with ${name}`);
    await example(join(OUT, name), env);
    const { total } = await owner.get(`/pipelines?search=${encodeURIComponent(pipeline)}`);
    if (total !== 1) throw new Error(`${name}: its pipeline is not there`);
  }
} finally {
  await service.stop();
}
console.log(`\n✔ ${chosen.map(([name]) => name).join(', ')}: each signed in, listed and created`);
