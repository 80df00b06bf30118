import { appendFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';
import { missingServers } from '../packages/server/test/servers/find.ts';

/** Names the files with tests that were skipped because a server is missing, also in the file `LEFT_OUT` for the end of `npm test`. */
export class LeftOut implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const server of missingServers()) {
      const files = modules.filter((module) => module.children.allTests('skipped').some(({ tags }) => tags.includes(server)));
      if (files.length === 0) continue;
      const line = `tests that need ${server} in ${files.map(({ relativeModuleId }) => relativeModuleId).join(', ')}`;
      console.error(`Left out: ${line}.`);
      if (process.env.LEFT_OUT) appendFileSync(process.env.LEFT_OUT, `${line}\n`);
    }
  }
}
