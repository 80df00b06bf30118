/** Runs one fault in its own process. `run.ts` forks it and receives the result over IPC. */
import { type Mode, Scope } from './kit/scope.ts';
import { FAULTS } from './list.ts';

const [id, mode] = process.argv.slice(2) as [string, Mode];
const fault = FAULTS.find((one) => one.id === id)!;
const scope = new Scope(mode);
let done = false;
function giveUp(): void {
  if (done) return;
  done = true;
  // The clean-up may hang too. Exiting stops the services in any case.
  setTimeout(() => process.exit(1), 5_000);
  void scope.close().finally(() => process.exit(1));
}
process.once('SIGTERM', giveUp);
process.once('disconnect', giveUp);
try {
  const verdict = await fault.run(scope);
  await scope.close();
  process.send?.({ verdict });
} catch (error) {
  await scope.close();
  process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}
done = true;
process.disconnect?.();
