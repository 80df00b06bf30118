import { expect, test } from 'vitest';
import { onStory } from '../testing/story.ts';

onStory('the installation', (story) => {
  test('tells every member its process, stores, retention and backlog', async () => {
    const viewer = await story.as('viewer');
    const { status, body } = await viewer('GET', 'installation');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      version: expect.any(String),
      runtime: `node ${process.version}`,
      process: { roles: ['admin'] },
      processes: [{ this: true, host: null, roles: ['admin'], log_available: true, started_at: expect.any(String) }],
      stores: { log: { engine: 'lmdb', available: true } },
      retention: { events_s: 7 * 86_400, dead_letters_s: 7 * 86_400, deduplication_s: 86_400 },
      backlog: { waiting: 0, oldest_waiting_at: null },
    });
  });

  test('tells admins on which host each process runs', async () => {
    const { processes } = (await story.got('installation')) as unknown as { processes: { host: string }[] };
    expect(processes.map(({ host }) => host)).toEqual([`host:${process.pid}`]);
  });
});
