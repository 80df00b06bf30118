#!/usr/bin/env -S MALLOC_ARENA_MAX=2 node --max-semi-space-size=8 --v8-pool-size=0
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { createFilesPrivately } from '@firsthand/server/stores/private-files.ts';
import { COMMANDS, helpText } from './commands.ts';
import { CommandError } from './failure.ts';

createFilesPrivately();

// The sources are TypeScript. Caching the compiled code cuts startup from five seconds to one.
enableCompileCache(join(import.meta.dirname, '../../../node_modules/.cache/firsthand'));

async function run(args: string[]): Promise<void> {
  const [first = '--help', second] = args;
  if (first === '--help' || first === '-h' || first === 'help') return void process.stdout.write(helpText());
  if (first === '--version' || first === '-v') return (await import('./commands/version.ts')).version();
  for (const [words, rest] of [
    [`${first} ${second}`, args.slice(2)],
    [first, args.slice(1)],
  ] as const) {
    const command = COMMANDS.find((one) => one.words === words);
    if (command === undefined) continue;
    if (rest.includes('--help')) return void process.stdout.write(helpText());
    return await (await command.load())(rest);
  }
  throw new CommandError(`There is no command ${JSON.stringify(args.join(' '))}: firsthand --help lists them.`);
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
