import { expect, test } from 'vitest';
import { diffsOf, linesOf, type Rerun } from './step-diff.ts';

const received = { properties: { total: 119 }, context: { ip: '203.0.113.7' } };
const event = { properties: { total: 119, net_value: 100 }, context: { ip: '203.0.113.0' } };

test('a value that two steps changed is shown at the second', () => {
  const [context, pii] = diffsOf([{ changed: ['context.ip'] }, { changed: ['context.ip'] }], received, event);
  expect(context).toEqual([{ path: 'context.ip', before: undefined, after: undefined }]);
  expect(pii).toEqual([{ path: 'context.ip', before: '203.0.113.7', after: '203.0.113.0' }]);
});
test('the last transformation has what differs and is no other step’s', () => {
  const steps = [{ step: 'transformation', result: 'applied' }];
  expect(diffsOf(steps, received, event)).toEqual([[{ path: 'properties.net_value', before: undefined, after: 100 }]]);
  const claimed = [{ changed: ['properties.net_value'] }, ...steps];
  expect(diffsOf(claimed, received, event)[1]).toEqual([]);
});
test('an event that was not stored shows the paths alone', () => {
  expect(diffsOf([{ changed: ['context.ip'] }], received, null)).toEqual([[{ path: 'context.ip', before: undefined, after: undefined }]]);
});

const steps = [{ step: 'context' }, { step: 'transformation' }];
const rerun = {
  unavailable: null,
  same: true,
  steps: [{ changes: [{ path: 'properties.a', after: 1 }] }, { changes: [{ path: 'properties.a', before: 1, after: 2 }] }],
};
test('a value that two steps changed is shown at both where the event was run again', () => {
  expect(linesOf(steps, received, event, rerun).lines).toEqual(rerun.steps.map(({ changes }) => changes));
});
test('it is said that a rerun uses stored values of the visitor, and that a large event is not run again', () => {
  const about = (of: Rerun) => linesOf(steps, received, event, of).about;
  expect(about(rerun)).toContain('session, identity, visitor memory and location are the stored ones');
  expect(about({ unavailable: 'too_large', same: false, steps: [] })).toContain('larger than 64 KB');
});
test('a rerun that ends differently is not shown as what happened; the reason is', () => {
  const { lines, about } = linesOf(steps, received, event, { ...rerun, same: false });
  expect([lines, about]).toEqual([[[], []], expect.stringContaining('the configuration was changed since')]);
  const gone = linesOf(steps, received, event, { unavailable: 'not_retained', same: false, steps: [] });
  expect(gone.about).toContain('no longer retained');
});
