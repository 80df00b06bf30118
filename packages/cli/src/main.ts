/** Runs the command that the arguments name. `firsthand.js` calls it. */
import { createFilesPrivately } from '@firsthand/server/stores/private-files.ts';
import { COMMANDS, commandsUnder, helpOf, helpText, usageOf } from './commands.ts';
import { CommandError, UsageError } from './failure.ts';

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
  if (first === '--version' || first === '-v') return (await import('./commands/version.ts')).version();
  if (first === 'help') return showHelp(args.slice(1));
  if (isHelp(first)) return showHelp([]);
  for (const [words, rest] of [
    [`${first} ${second}`, args.slice(2)],
    [first, args.slice(1)],
  ] as const) {
    const command = COMMANDS.find((one) => one.words === words);
    if (command === undefined) continue;
    if (rest.some(isHelp)) return showHelp([words]);
    try {
      return await (await command.load())(rest);
    } catch (error) {
      if (error instanceof UsageError) throw new UsageError(`${error.message}\n${usageOf(command)}`, { cause: error });
      throw error;
    }
  }
  if (second !== undefined && isHelp(second)) return showHelp([first]);
  throw unknownCommand(args);
}

const isHelp = (word: string): boolean => word === '--help' || word === '-h';

function showHelp(words: string[]): void {
  const name = words.join(' ');
  if (name !== '' && commandsUnder(name).length === 0) throw unknownCommand(words);
  process.stdout.write(name === '' ? helpText() : helpOf(name));
}
/** Only the words: what follows them may be a password. */
function unknownCommand(args: string[]): CommandError {
  const [first = '', second] = args;
  const under = commandsUnder(first);
  if (under.length === 0) return new CommandError(`There is no command ${JSON.stringify(first)}: firsthand --help lists them.`);
  const name = second === undefined || second.startsWith('-') ? first : `${first} ${second}`;
  return new UsageError([`There is no command ${JSON.stringify(name)}.`, ...under.map(usageOf)].join('\n'));
}
