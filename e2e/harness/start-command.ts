/** The command of `npm start`, read from package.json: tests and benchmarks run the same command as users. */
import manifest from '../../package.json' with { type: 'json' };

const words = manifest.scripts.start.split(' ');
const node = words.indexOf('node');

/** Its environment variables and Node flags. */
export const START_ENV: Record<string, string> = Object.fromEntries(
  words
    .slice(0, node)
    .filter((word) => word.includes('='))
    .map((word) => word.split('=') as [string, string]),
);
export const NODE_FLAGS: string[] = words.slice(node + 1).filter((word) => word.startsWith('--'));
