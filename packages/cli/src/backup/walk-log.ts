/** Child process of `verify.ts`: reads the whole log in the given folder. */
import { verifyLog } from '@firsthand/server/stores/event-log/lmdb/verify.ts';

try {
  verifyLog(process.argv[2] ?? '');
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
