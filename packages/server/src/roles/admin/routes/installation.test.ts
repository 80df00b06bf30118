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
      stores: { log: { engine: 'lmdb', available: true } },
      retention: { events_s: 7 * 86_400, dead_letters_s: 7 * 86_400, deduplication_s: 86_400 },
      backlog: { waiting: 0, oldest_waiting_at: null },
    });
  });
});
