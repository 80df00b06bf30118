/**
 * Sends by the clock, whatever is answered and however late: the load of many clients that know nothing of each other. A
 * request takes a connection that waits for nothing; only where all are waiting does it go behind another one's request.
 * Latency counts from the moment a request was due. Cheap: one write a request, answers told apart by their first bytes.
 */
import { connect, type Socket } from 'node:net';
import { headOf, trackEvent } from './request.ts';

export interface OpenLoopPlan {
  port: number;
  key: string;
  connections: number;
  /** Requests a second. */
  rate: number;
  warmupMs: number;
  durationMs: number;
  /** Event ids are this and a number. */
  prefix: string;
}
export interface OpenLoopResult {
  /** Of the measured time: requests that were due in it, by what became of them. */
  sent: number;
  byStatus: Record<string, number>;
  /** No answer came, though it was waited for. */
  unanswered: number;
  withoutRetryAfter: number;
  acceptedP50Ms: number;
  acceptedP99Ms: number;
  acceptedMaxMs: number;
  refusedP99Ms: number;
  /** Requests a second that really went out in the measured time. */
  sentPerSecond: number;
  acceptedPerSecond: number;
  /** Of the whole run, warm-up included: one bit an event id, set where the answer was 200. */
  accepted: string;
  acceptedCount: number;
}

const TICK_MS = 1;
/** How long answers are waited for when nothing more is sent. */
const DRAIN_MS = 10_000;
const DIGITS = 10;

class Lane {
  readonly socket: Socket;
  /** Numbers of the requests that wait for an answer, oldest first. */
  waiting: number[] = [];
  rest = '';
  constructor(socket: Socket) {
    this.socket = socket;
  }
}

export async function openLoop(plan: OpenLoopPlan): Promise<OpenLoopResult> {
  const total = Math.ceil((plan.rate * (plan.warmupMs + plan.durationMs)) / 1_000);
  const dueAt = new Float64Array(total);
  /** 0: no answer. */
  const statuses = new Uint16Array(total);
  const latencies = new Float64Array(total);
  let withoutRetryAfter = 0;
  let answered = 0;
  const body = trackEvent(`${plan.prefix}${'0'.repeat(DIGITS)}`, '00000000');
  const request = Buffer.from(headOf('/v1/t', plan.key, Buffer.byteLength(body)) + body);
  const idAt = request.indexOf(plan.prefix + '0'.repeat(DIGITS)) + plan.prefix.length;
  const visitorAt = request.indexOf('"anonymousId":"') + 15;

  const lanes = await connectAll(plan, (lane, chunk) => {
    const now = performance.now();
    let text = lane.rest === '' ? chunk.toString('latin1') : lane.rest + chunk.toString('latin1');
    for (;;) {
      const headEnd = text.indexOf('\r\n\r\n');
      if (headEnd === -1) break;
      const lengthAt = text.indexOf('Content-Length: ');
      const end = headEnd + 4 + Number.parseInt(text.slice(lengthAt + 16, lengthAt + 24), 10);
      if (text.length < end) break;
      const n = lane.waiting.shift()!;
      const status = Number(text.slice(9, 12));
      statuses[n] = status;
      latencies[n] = now - dueAt[n]!;
      answered++;
      if (status !== 200 && !/\r\nRetry-After: \d+\r\n/.test(text.slice(0, headEnd + 2))) withoutRetryAfter++;
      text = text.slice(end);
    }
    lane.rest = text;
    if (lane.waiting.length === 0) idle.push(lane);
  });
  const idle = [...lanes];
  let behind = 0;
  let sent = 0;
  const startedAt = performance.now();
  await new Promise<void>((resolve) => {
    const pacer = setInterval(() => {
      const now = performance.now();
      const due = Math.min(total, Math.floor(((now - startedAt) * plan.rate) / 1_000));
      for (; sent < due; sent++) {
        const lane = idle.pop() ?? lanes[behind++ % lanes.length]!;
        const bytes = Buffer.from(request);
        bytes.write(String(sent).padStart(DIGITS, '0'), idAt, 'latin1');
        bytes.write((sent % 5_000).toString(16).padStart(8, '0'), visitorAt, 'latin1');
        dueAt[sent] = startedAt + (sent * 1_000) / plan.rate;
        lane.waiting.push(sent);
        lane.socket.write(bytes);
      }
      if (sent < total) return;
      clearInterval(pacer);
      resolve();
    }, TICK_MS);
  });
  const sentFor = performance.now() - startedAt;
  for (const until = performance.now() + DRAIN_MS; answered < total && performance.now() < until; ) await sleep(20);
  for (const { socket } of lanes) socket.destroy();

  const from = Math.floor((plan.rate * plan.warmupMs) / 1_000);
  const byStatus: Record<string, number> = {};
  const times: { accepted: number[]; refused: number[] } = { accepted: [], refused: [] };
  let unanswered = 0;
  for (let n = from; n < total; n++) {
    const status = statuses[n]!;
    if (status === 0) unanswered++;
    else byStatus[status] = (byStatus[status] ?? 0) + 1;
    if (status !== 0) times[status === 200 ? 'accepted' : 'refused'].push(latencies[n]!);
  }
  const accepted = new Uint8Array(Math.ceil(total / 8));
  let acceptedCount = 0;
  for (let n = 0; n < total; n++)
    if (statuses[n] === 200) {
      accepted[n >> 3]! |= 1 << (n & 7);
      acceptedCount++;
    }
  for (const list of Object.values(times)) list.sort((a, b) => a - b);
  const seconds = (sentFor * (plan.durationMs / (plan.warmupMs + plan.durationMs))) / 1_000;
  return {
    sent: total - from,
    byStatus,
    unanswered,
    withoutRetryAfter,
    acceptedP50Ms: quantile(times.accepted, 0.5),
    acceptedP99Ms: quantile(times.accepted, 0.99),
    acceptedMaxMs: times.accepted.at(-1) ?? 0,
    refusedP99Ms: quantile(times.refused, 0.99),
    sentPerSecond: (total - from) / seconds,
    acceptedPerSecond: times.accepted.length / seconds,
    accepted: Buffer.from(accepted).toString('base64'),
    acceptedCount,
  };
}

async function connectAll(plan: OpenLoopPlan, onData: (lane: Lane, chunk: Buffer) => void): Promise<Lane[]> {
  const lanes: Lane[] = [];
  // A hundred at a time: a listener's queue of connections is not long.
  while (lanes.length < plan.connections) {
    const more = Array.from(
      { length: Math.min(100, plan.connections - lanes.length) },
      () =>
        new Promise<Lane>((resolve, reject) => {
          const socket = connect({ port: plan.port, host: '127.0.0.1', noDelay: true }, () => resolve(lane));
          const lane = new Lane(socket);
          socket.on('data', (chunk: Buffer) => onData(lane, chunk));
          socket.on('error', reject);
        }),
    );
    lanes.push(...(await Promise.all(more)));
  }
  return lanes;
}
function quantile(sorted: readonly number[], at: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? 0;
}
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

if (process.send) {
  process.on('message', (plan: OpenLoopPlan) => {
    openLoop(plan).then(
      (result) => process.send!({ result }),
      (error: unknown) => process.send!({ error: String(error) }),
    );
  });
  process.on('disconnect', () => process.exit(0));
}
