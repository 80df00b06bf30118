import { expect, test } from 'vitest';
import { turns } from '../../runtime/turns.ts';
import { createCipher } from '../../secrets/cipher.ts';
import { SECRET_KEY, startHarness } from './testing/harness.ts';
import { createWrite } from './write.ts';

test('a large change is made, compared and written to the audit log in separate turns: together they held the loop for 38 ms', async () => {
  const harness = await startHarness();
  const { org_id, owner } = await harness.newOrganisation();
  const { db } = harness.store;
  const write = createWrite({
    db,
    cipher: createCipher(SECRET_KEY),
    clock: harness.clock,
    log: { warn() {} },
    configChanged: async () => {},
  });
  let turn = 0;
  let counting = setImmediate(function count() {
    turn++;
    counting = setImmediate(count);
  });
  const seen = new Map<string, number>();
  const tookLong = (step: string) => {
    if (!seen.has(step)) seen.set(step, turn);
    turns.tookLong();
  };
  const large = {
    get field() {
      tookLong('compare');
      return { toJSON: () => tookLong('write') };
    },
  };
  await write({ ...owner, org_id, ip: null, user_agent: null }, 'thing.changed', async (_tx, change) => {
    change.audit({ id: 'thing', after: large });
    tookLong('change');
  });
  clearImmediate(counting);
  await harness.close();
  expect([...seen.keys()]).toEqual(['change', 'compare', 'write']);
  expect(new Set(seen.values()).size).toBe(3);
});
