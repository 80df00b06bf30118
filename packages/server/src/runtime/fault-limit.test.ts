import { expect, test } from 'vitest';
import { createLogger } from './logger.ts';

function loggerAt() {
  let now = 0;
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger('info', {
    now: () => now,
    outageOf: (error) => (error.name === 'TimeoutError' ? 'broker' : undefined),
    destination: { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  });
  return { logger, lines, pass: (ms: number) => (now += ms) };
}
const timeout = () => Object.assign(new Error('timed out'), { name: 'TimeoutError' });

test('an outage is one line a minute without a stack, whatever fails because of it', () => {
  const { logger, lines, pass } = loggerAt();
  for (let n = 0; n < 100; n++) {
    logger.warn({ err: timeout() }, 'lease not renewed, retrying');
    logger.error({ err: timeout(), integration_id: `int_${n}` }, 'batch not written, retrying');
  }
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ level: 'warn', outage: 'broker', msg: 'lease not renewed, retrying', reason: 'timed out' });
  expect(JSON.stringify(lines[0])).not.toContain('stack');
  pass(60_000);
  logger.warn({ err: timeout() }, 'lease not renewed, retrying');
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatchObject({ left_out: { 'lease not renewed, retrying': 99, 'batch not written, retrying': 100 } });
});

test('another error is one line a minute for each message, code and integration, with its stack', () => {
  const { logger, lines } = loggerAt();
  for (let n = 0; n < 10; n++)
    for (const integration_id of ['int_1', 'int_2']) logger.error({ err: new TypeError('on purpose'), integration_id }, 'mapping failed');
  logger.error({ err: Object.assign(new Error('x'), { code: 'E1' }) }, 'mapping failed');
  expect(lines.map((line) => [line.integration_id, (line.err as { type: string }).type])).toEqual([
    ['int_1', 'TypeError'],
    ['int_2', 'TypeError'],
    [undefined, 'Error'],
  ]);
  expect(lines[0]?.err).toMatchObject({ stack: expect.stringContaining('fault-limit.test.ts') });
});

test('lines without an error, and fatal ones, are never left out', () => {
  const { logger, lines } = loggerAt();
  for (let n = 0; n < 3; n++) {
    logger.warn('waiting');
    logger.warn({ n }, 'waiting');
    logger.info({ err: timeout() }, 'informed');
    logger.fatal({ err: timeout() }, 'exiting');
  }
  expect(lines).toHaveLength(12);
});
