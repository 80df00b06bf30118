/** After `npm ci`, so that `npm start` needs no second step: builds the console, and beside it compiles the service into its cache. */
import { run } from './run.ts';

const codes = await Promise.all(['build-console', 'warm-compile-cache'].map((name) => run('node', [`scripts/${name}.ts`])));
process.exitCode = Math.max(...codes);
