import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../harness/client.ts';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';
import { compare } from './kit/oracle.ts';
import { startSender } from './kit/sender.ts';

const DISK_MB = 96;
/** Free space, besides the ballast, when filling begins. */
const ROOM_MB = 8;

function fill(file: string, leaveBytes: number, folder: string): void {
  const free = () => Number(execFileSync('df', ['--output=avail', '-B1', folder]).toString().split('\n')[1]);
  const handle = openSync(file, 'w');
  const chunk = Buffer.alloc(262_144, 'x');
  while (free() > leaveBytes + chunk.length) writeSync(handle, chunk);
  closeSync(handle);
}

export const f3: Fault = {
  id: 'F3',
  title: 'disk full, then freed',
  limit_s: { quick: 90, normal: 120, full: 120 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    const disk = mkdtempSync(join(tmpdir(), 'firsthand-disk-'));
    scope.defer(() => rmSync(disk, { recursive: true, force: true }));
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m`, 'firsthand', disk]).status !== 0) {
      figures.leaveOut('a file system can only be mounted as root');
      return figures.verdict;
    }
    scope.defer(() => spawnSync('umount', ['-l', disk]));
    const service = await scope.service({}, { dataDir: join(disk, 'data') });
    const pid = service.pid;
    const sink = await scope.sink();
    const { key } = await scope.pipeline(service, sink.url);
    const ballast = join(disk, 'ballast');
    fill(ballast, ROOM_MB * 1_048_576, disk);
    const sender = startSender({ port: Number(new URL(service.url).port), key, connections: 16, batch: 20, prefix: 'full' });
    const refused = () => sender.statuses.get(503) ?? 0;
    await until('the first 503', () => refused() > 0, 40_000);
    // Keep the disk full: fill any space that the service frees.
    fill(ballast.concat('-2'), 0, disk);
    await sleep(1_000);
    const okBefore = sender.statuses.get(200) ?? 0;
    const refusedBefore = refused();
    await sleep(scope.by(4_000, 8_000));
    const okWhileFull = (sender.statuses.get(200) ?? 0) - okBefore;
    figures.tell('503 while full', refused() - refusedBefore);
    // The log may still reuse a free page of its own. Such a 200 is on disk, and the comparison below checks it.
    figures.atMost('200 while full, of a hundred answers', (100 * okWhileFull) / Math.max(1, okWhileFull + refused() - refusedBefore), 1);
    const others = [...sender.statuses.keys()].filter((status) => status !== 200 && status !== 503);
    figures.equal('other answers', others.join(', '), '');
    const freedAt = performance.now();
    unlinkSync(ballast);
    unlinkSync(ballast.concat('-2'));
    await until('the next 200', () => sender.lastOkAt > freedAt, 30_000);
    figures.atMost('accepting again after space was freed', (sender.lastOkAt - freedAt) / 1_000, 5, 's');
    await sleep(500);
    await sender.stop();
    await sink.settle(sender.accepted, 60_000);
    compare(figures, sender.accepted, await sink.ids(), { repeatedPercent: 0 });
    figures.equal('restarts', service.pid === pid && service.ended() === undefined ? 0 : 1, 0);
    return figures.verdict;
  },
};
