/** How `npm start` starts the service, read where it is written: tests and benchmarks run what people run. */
import manifest from '../../package.json' with { type: 'json' };

const words = manifest.scripts.start.split(' ');
const node = words.indexOf('node');

/** Its settings for the C library, and Node's own flags. */
export const START_ENV: Record<string, string> = Object.fromEntries(
  words
    .slice(0, node)
    .filter((word) => word.includes('='))
    .map((word) => word.split('=') as [string, string]),
);
export const NODE_FLAGS: string[] = words.slice(node + 1).filter((word) => word.startsWith('--'));
