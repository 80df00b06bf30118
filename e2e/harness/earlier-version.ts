/** The program as it was at an earlier commit, from the repository's history, on the dependencies that are installed now. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const MODULES = join(ROOT, 'node_modules');

/** A copy of the sources without history, or a shallow clone, does not have it. */
export function hasCommit(commit: string): boolean {
  return spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT, stdio: 'ignore' }).status === 0;
}

/** Writes it to a temporary folder. `main.ts` is the program of 0.1.0. */
export function checkOut(commit: string): { main: string; folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-earlier-'));
  const archive = execFileSync('git', ['archive', commit, 'package.json', 'packages'], { cwd: ROOT, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@firsthand'), { recursive: true });
  for (const name of readdirSync(MODULES))
    if (name !== '@firsthand' && name !== 'firsthand' && !name.startsWith('.')) symlinkSync(join(MODULES, name), join(modules, name));
  for (const name of readdirSync(join(folder, 'packages'))) {
    symlinkSync(join(folder, 'packages', name), join(modules, '@firsthand', name));
    const own = join(ROOT, 'packages', name, 'node_modules');
    if (existsSync(own)) symlinkSync(own, join(folder, 'packages', name, 'node_modules'));
  }
  const start = ['firsthand.js', 'main.ts'].map((name) => join(folder, 'packages/cli/src', name)).find((file) => existsSync(file));
  return { main: start!, folder };
}
