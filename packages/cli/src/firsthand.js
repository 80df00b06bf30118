#!/usr/bin/env -S MALLOC_ARENA_MAX=2 node --max-semi-space-size=8 --v8-pool-size=0
// The sources are TypeScript. Caching the compiled code cuts startup from five seconds to one. This file is JavaScript, so that the cache
// is on before the first TypeScript file: otherwise Node loads its type stripper, which takes 10 MB that are never freed.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

// The flag above sizes the young generation of this thread. Left in place it would replace the `resourceLimits` of every worker thread. Before
// the cache: compiled code is only valid for the flags it was compiled with.
setFlagsFromString('--max-semi-space-size=0');
enableCompileCache(join(import.meta.dirname, '../../../node_modules/.cache/firsthand'));
const { main } = await import('./main.ts');
await main(process.argv.slice(2));
