import { RUNNERS } from '../../attack/list.ts';
import { attack, startTarget } from '../../attack/target.ts';
import { send, until } from '../harness/client.ts';
import { EMBEDDED, type Fault, Figures } from './kit/fault.ts';

/** In CPU time: on a busy machine elapsed time includes other processes. */
const MAX_STALL_MS = 50;

export const f29: Fault = {
  id: 'F29',
  title: 'hostile configuration, text, archives and upgrade requests',
  limit_s: { quick: 240, normal: 600, full: 1_800 },
  async run(scope) {
    const figures = new Figures(EMBEDDED);
    const target = await startTarget();
    scope.keep(target.service);
    for (const runner of RUNNERS.filter(({ name }) => name !== 'addresses')) {
      const { cases, faults, stall } = await attack(runner, target, scope.by(1, 3, 20));
      figures.tell(`${runner.name}: cases`, cases);
      figures.equal(`${runner.name}: wrong answers`, faults.join('; ') || 'none', 'none');
      figures.tell(`${runner.name}: longest stall by the clock`, stall.wall, 'ms');
      figures.atMost(`${runner.name}: longest stall by own work ${stall.step ?? ''}`.trim(), stall.cpu, MAX_STALL_MS, 'ms');
    }
    const { status } = await send(target.service, target.key, '/v1/t', { type: 'track', event: 'After', messageId: 'after' });
    figures.equal('an event afterwards', status, 200);
    const seen = async () => (await target.client.call('GET', `/events/after?pipeline_id=${target.pipelineId}`)).status === 200;
    await until('the event is processed', seen, 30_000);
    return figures.verdict;
  },
};
