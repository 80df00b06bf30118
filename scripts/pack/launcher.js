#!/usr/bin/env node
// Starts the program with its Node flags. An older Node starts the Node 24 that is installed beside this package.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FLAGS = ['--max-semi-space-size=8', '--v8-pool-size=0'];

function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath;
  try {
    const manifest = createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/package.json`);
    return join(dirname(manifest), 'bin/node');
  } catch {
    console.error(`Firsthand needs Node 24 or newer; this is ${process.version}.`);
    process.exit(1);
  }
}

const main = fileURLToPath(new URL('../src/firsthand.js', import.meta.url));
const child = spawn(findNode(), [...FLAGS, main, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { MALLOC_ARENA_MAX: '2', ...process.env },
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(error.message);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 1));
