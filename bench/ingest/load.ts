/** A minimal HTTP/1.1 client on raw sockets: one request at a time per connection, and hardly any parsing. */
import { connect, type Socket } from 'node:net';
import { headOf, trackEvent } from './request.ts';

export interface LoadPlan {
  port: number;
  /** Of further processes: connections are spread over all of them. */
  otherPorts?: number[];
  path: string;
  /** The pipeline key. The benchmark's own server accepts `pk_web`. */
  key?: string;
  connections: number;
  /** Events per request. */
  batch: number;
  warmupMs: number;
  durationMs: number;
  /** Requests per second over all connections. Undefined: as many as are answered. */
  rate?: number;
}
export interface LoadResult {
  ok: number;
  refused: number;
  failed: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
}

function requestOf(path: string, key: string, batch: number, lane: number): { bytes: Buffer; marks: number[] } {
  const event = trackEvent('msg-0000000000000000', lane.toString(16).padStart(8, '0'));
  const body = batch === 1 ? event : `{"batch":[${Array.from({ length: batch }, () => event).join(',')}]}`;
  const bytes = Buffer.from(headOf(path, key, Buffer.byteLength(body)) + body);
  const marks: number[] = [];
  for (let at = bytes.indexOf('msg-'); at !== -1; at = bytes.indexOf('msg-', at + 4)) marks.push(at + 4);
  return { bytes, marks };
}

class Lane {
  readonly socket: Socket;
  readonly bytes: Buffer;
  readonly marks: number[];
  busy = false;
  sentAt = 0;
  constructor(socket: Socket, path: string, key: string, batch: number, lane: number) {
    this.socket = socket;
    const { bytes, marks } = requestOf(path, key, batch, lane);
    this.bytes = bytes;
    this.marks = marks;
  }
}

export async function load(plan: LoadPlan): Promise<LoadResult> {
  let sequence = 0;
  const result: LoadResult = { ok: 0, refused: 0, failed: 0, perSecond: 0, p50Ms: 0, p99Ms: 0 };
  const latencies: number[] = [];
  const idle: Lane[] = [];
  /** Due times of requests that wait for a free connection. */
  const due: number[] = [];
  let measuring = false;
  let stopped = false;

  function send(lane: Lane, at: number): void {
    // The id contains the due time in milliseconds and a counter of three digits. Receivers read the latency from it.
    const ms = Math.floor(performance.timeOrigin + at);
    for (const mark of lane.marks) lane.bytes.write(`${ms}${String(sequence++ % 1_000).padStart(3, '0')}`, mark, 'latin1');
    lane.busy = true;
    lane.sentAt = at;
    // Node copies the buffer if the socket cannot take it at once. It is reused only after the response.
    lane.socket.write(lane.bytes);
  }
  function onAnswer(lane: Lane, chunk: Buffer): void {
    lane.busy = false;
    if (measuring) {
      const status = chunk.toString('latin1', 9, 12);
      if (status === '200') {
        result.ok++;
        latencies.push(performance.now() - lane.sentAt);
      } else if (status === '429' || status === '503') result.refused++;
      else result.failed++;
    }
    if (stopped) return;
    if (plan.rate === undefined) send(lane, performance.now());
    else if (due.length > 0) send(lane, due.shift()!);
    else idle.push(lane);
  }
  const ports = [plan.port, ...(plan.otherPorts ?? [])];
  const lanes = await Promise.all(
    Array.from(
      { length: plan.connections },
      (_, index) =>
        new Promise<Lane>((resolve, reject) => {
          const socket = connect({ port: ports[index % ports.length] ?? plan.port, host: '127.0.0.1', noDelay: true }, () => {
            const lane = new Lane(socket, plan.path, plan.key ?? 'pk_web', plan.batch, index);
            socket.on('data', (chunk: Buffer) => onAnswer(lane, chunk));
            resolve(lane);
          });
          socket.on('error', reject);
        }),
    ),
  );
  const startedAt = performance.now();
  let pacer: NodeJS.Timeout | undefined;
  if (plan.rate === undefined) for (const lane of lanes) send(lane, performance.now());
  else {
    idle.push(...lanes);
    let issued = 0;
    const rate = plan.rate;
    pacer = setInterval(() => {
      const now = performance.now();
      const target = ((now - startedAt) * rate) / 1_000;
      for (; issued < target; issued++) {
        const at = startedAt + (issued * 1_000) / rate;
        const lane = idle.pop();
        if (lane) send(lane, Math.max(at, now - 1));
        else if (due.length < plan.connections * 4) due.push(at);
      }
    }, 1);
  }
  await sleep(plan.warmupMs);
  measuring = true;
  const from = performance.now();
  await sleep(plan.durationMs);
  measuring = false;
  const seconds = (performance.now() - from) / 1_000;
  stopped = true;
  clearInterval(pacer);
  for (const { socket } of lanes) socket.destroy();
  latencies.sort((a, b) => a - b);
  result.perSecond = result.ok / seconds;
  result.p50Ms = latencies[Math.floor(latencies.length * 0.5)] ?? 0;
  result.p99Ms = latencies[Math.floor(latencies.length * 0.99)] ?? 0;
  return result;
}
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

if (process.send) {
  process.on('message', (plan: LoadPlan) => {
    load(plan).then(
      (result) => process.send!({ result }),
      (error: unknown) => process.send!({ error: String(error) }),
    );
  });
}
