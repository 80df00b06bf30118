/** One temporary folder for a run of tests: whatever a test leaves behind, one that failed too, goes with it. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-tests-'));
  // PostgreSQL runs as a user of its own, and must get to its data.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  // Also where the run is broken off.
  process.once('exit', remove);
  return remove;
}
