/**
 * An open-loop load generator: sends at a fixed rate, however late the responses are, like many independent clients. It does not
 * pipeline: a request takes the connection that has been idle longest, or waits for a free one. Latency counts from the moment a request
 * was due, so it includes waiting for a connection and the generator's own delay. It is cheap because it shares the machine with the
 * service: one read buffer, one write per request, and only the first bytes of a response are parsed.
 */
import { connect, type Socket } from 'node:net';
import { headOf, trackEvent } from './request.ts';

export interface OpenLoopPlan {
  port: number;
  key: string;
  connections: number;
  path: string;
  /** Events per request. */
  batch: number;
  /** Requests per second. */
  rate: number;
  warmupMs: number;
  durationMs: number;
  /** Event ids are this prefix and a number. */
  prefix: string;
}
export interface OpenLoopResult {
  /** Requests that were due in the measured time, by result. */
  due: number;
  byStatus: Record<string, number>;
  /** No response arrived in time. */
  unanswered: number;
  /** By status, also in the warm-up. */
  withoutRetryAfter: Record<string, number>;
  acceptedP50Ms: number;
  acceptedP99Ms: number;
  acceptedMaxMs: number;
  refusedP99Ms: number;
  /** How late requests were sent: no free connection, or the generator was late. */
  sentLateP99Ms: number;
  /** How late the generator's timer fired. */
  tickLateP99Ms: number;
  /** Requests per second that were really sent in the measured time. */
  sentPerSecond: number;
  /** Latency of requests. */
  acceptedPerSecond: number;
  /** For the whole run, including warm-up: one bit per event id, set if the response was 200. */
  accepted: string;
  acceptedCount: number;
}

const TICK_MS = 1;
/** How long to wait for responses after the last request. */
const DRAIN_MS = 10_000;
const DIGITS = 10;
const OK = 200;
const HEAD_END = Buffer.from('\r\n\r\n');
const LENGTH = Buffer.from('Content-Length: ');
const RETRY_AFTER = Buffer.from('\r\nRetry-After: ');

class Lane {
  readonly bytes: Buffer;
  socket!: Socket;
  /** The request in flight. */
  n = 0;
  /** The bytes of an incomplete response. */
  rest: Buffer | undefined;
  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}

export async function openLoop(plan: OpenLoopPlan): Promise<OpenLoopResult> {
  const total = Math.ceil((plan.rate * (plan.warmupMs + plan.durationMs)) / 1_000);
  const dueAt = (n: number) => startedAt + (n * 1_000) / plan.rate;
  /** 0: no response. */
  const statuses = new Uint16Array(total);
  const latencies = new Float64Array(total);
  const sentLate = new Float64Array(total);
  const tickLate: number[] = [];
  const withoutRetryAfter: Record<string, number> = {};
  let answered = 0;
  const { request, idsAt, visitorsAt } = requestOf(plan);

  /** Ring of free lanes; each lane is in it at most once. */
  const idle: Lane[] = [];
  let firstIdle = 0;
  let sent = 0;
  let due = 0;
  let startedAt = 0;
  let measuredFrom = 0;
  let sentBefore = 0;

  function send(lane: Lane): void {
    const n = sent++;
    lane.n = n;
    for (let i = 0, event = n * plan.batch; i < plan.batch; i++, event++) {
      lane.bytes.write(String(event).padStart(DIGITS, '0'), idsAt[i]!, 'latin1');
      lane.bytes.write((event % 5_000).toString(16).padStart(8, '0'), visitorsAt[i]!, 'latin1');
    }
    sentLate[n] = performance.now() - dueAt(n);
    lane.socket.write(lane.bytes);
  }
  function onData(lane: Lane, chunk: Buffer): void {
    const answer = lane.rest === undefined ? chunk : Buffer.concat([lane.rest, chunk]);
    if (!isWhole(answer)) {
      // A copy, because the read buffer is reused.
      lane.rest = Buffer.from(answer);
      return;
    }
    lane.rest = undefined;
    const status = (answer[9]! - 48) * 100 + (answer[10]! - 48) * 10 + answer[11]! - 48;
    statuses[lane.n] = status;
    latencies[lane.n] = performance.now() - dueAt(lane.n);
    answered++;
    if (status !== OK && answer.indexOf(RETRY_AFTER) === -1) withoutRetryAfter[status] = (withoutRetryAfter[status] ?? 0) + 1;
    if (sent < due) send(lane);
    else idle.push(lane);
  }
  const lanes = await connectAll(plan, () => new Lane(Buffer.from(request)), onData);
  idle.push(...lanes);
  startedAt = performance.now();
  let tickedAt = startedAt;
  await new Promise<void>((resolve) => {
    const pacer = setInterval(() => {
      const now = performance.now();
      if (measuredFrom !== 0) tickLate.push(now - tickedAt - TICK_MS);
      else if (now - startedAt >= plan.warmupMs) {
        measuredFrom = now;
        sentBefore = sent;
      }
      tickedAt = now;
      due = Math.min(total, Math.floor(((now - startedAt) * plan.rate) / 1_000));
      while (sent < due && firstIdle < idle.length) send(idle[firstIdle++]!);
      if (firstIdle > 100_000) firstIdle -= idle.splice(0, firstIdle).length;
      if (due < total) return;
      clearInterval(pacer);
      resolve();
    }, TICK_MS);
  });
  const seconds = (performance.now() - measuredFrom) / 1_000;
  const sentPerSecond = (sent - sentBefore) / seconds;
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
    if (status !== 0) times[status === OK ? 'accepted' : 'refused'].push(latencies[n]!);
  }
  const accepted = new Uint8Array(Math.ceil((total * plan.batch) / 8));
  let acceptedCount = 0;
  for (let event = 0; event < total * plan.batch; event++)
    if (statuses[Math.floor(event / plan.batch)] === OK) {
      accepted[event >> 3]! |= 1 << (event & 7);
      acceptedCount++;
    }
  return {
    due: total - from,
    byStatus,
    unanswered,
    withoutRetryAfter,
    acceptedP50Ms: quantile(times.accepted, 0.5),
    acceptedP99Ms: quantile(times.accepted, 0.99),
    acceptedMaxMs: quantile(times.accepted, 1),
    refusedP99Ms: quantile(times.refused, 0.99),
    sentLateP99Ms: quantile([...sentLate.subarray(from)], 0.99),
    tickLateP99Ms: quantile(tickLate, 0.99),
    sentPerSecond,
    acceptedPerSecond: (times.accepted.length * 1_000) / plan.durationMs,
    accepted: Buffer.from(accepted).toString('base64'),
    acceptedCount,
  };
}

/** One request, with the offsets of its event ids and visitor ids. */
function requestOf({ path, key, batch, prefix }: OpenLoopPlan): { request: Buffer; idsAt: number[]; visitorsAt: number[] } {
  const event = trackEvent(`${prefix}${'0'.repeat(DIGITS)}`, '00000000');
  const body = batch === 1 ? event : `{"batch":[${Array.from({ length: batch }, () => event).join(',')}]}`;
  const request = Buffer.from(headOf(path, key, Buffer.byteLength(body)) + body);
  const after = (mark: string) => {
    const places: number[] = [];
    for (let at = request.indexOf(mark); at !== -1; at = request.indexOf(mark, at + 1)) places.push(at + mark.length);
    return places;
  };
  return { request, idsAt: after(`"messageId":"${prefix}`), visitorsAt: after('"anonymousId":"') };
}

/** There is at most one response, because requests are not pipelined. */
function isWhole(answer: Buffer): boolean {
  const headEnd = answer.indexOf(HEAD_END);
  if (headEnd === -1) return false;
  const lengthAt = answer.indexOf(LENGTH) + LENGTH.length;
  let length = 0;
  for (let at = lengthAt; answer[at]! >= 48 && answer[at]! <= 57; at++) length = length * 10 + answer[at]! - 48;
  return answer.length >= headEnd + HEAD_END.length + length;
}

async function connectAll(plan: OpenLoopPlan, laneOf: () => Lane, onData: (lane: Lane, chunk: Buffer) => void): Promise<Lane[]> {
  const lanes: Lane[] = [];
  const buffer = Buffer.alloc(65_536);
  // 100 at a time: a listener's backlog is short.
  while (lanes.length < plan.connections) {
    const more = Array.from(
      { length: Math.min(100, plan.connections - lanes.length) },
      () =>
        new Promise<Lane>((resolve, reject) => {
          const lane = laneOf();
          const callback = (read: number) => {
            onData(lane, buffer.subarray(0, read));
            return true;
          };
          lane.socket = connect({ port: plan.port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback } }, () => resolve(lane));
          lane.socket.on('error', reject);
        }),
    );
    lanes.push(...(await Promise.all(more)));
  }
  return lanes;
}
function quantile(list: readonly number[], at: number): number {
  const sorted = list.toSorted((a, b) => a - b);
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
