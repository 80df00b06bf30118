/** Runs the command that the arguments name. `firsthand.js` calls it. */
import { createFilesPrivately } from '@firsthand/server/stores/private-files.ts';
import { COMMANDS, helpText } from './commands.ts';
import { CommandError } from './failure.ts';

export async function main(args: string[]): Promise<void> {
  createFilesPrivately();
  try {
    await run(args);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}

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
