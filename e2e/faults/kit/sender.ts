/**
 * A minimal HTTP/1.1 sender on raw sockets. It records every id answered 200, which is half of the oracle. It reconnects when the service
 * is gone, and never sends an id twice.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface SenderPlan {
  port: number;
  key: string;
  connections: number;
  /** Events per request: one goes to `/v1/t`, more to `/v1/batch`. */
  batch: number;
  prefix: string;
  /** Requests per second over all connections. Undefined: as many as are answered. */
  rate?: number;
  /** Sending pauses while this returns false. */
  may?: () => boolean;
  /** Additional fields of each event, as JSON text with a leading comma. */
  fields?: (n: number) => string;
  /** Milliseconds that a connection waits after a rejection. */
  restMs?: number;
  keepTimes?: boolean;
}
export interface Sender {
  accepted: Set<string>;
  /** When each id was answered 200, in milliseconds since 1970. Only if the plan asks for it. */
  acceptedAt: Map<string, number>;
  /** Number of responses by status. */
  statuses: Map<number, number>;
  /** Latency of each request answered 200, in milliseconds. */
  latencies: number[];
  /** Time of the latest 200, from `performance.now()`. */
  lastOkAt: number;
  /** Send time of the latest request answered 200, in milliseconds since 1970. */
  lastOkSentAt: number;
  broken: number;
  /** Resolves when all are connected and the first requests are sent. */
  ready: Promise<void>;
  /** Waits for the requests in flight. */
  stop(): Promise<void>;
}

export function startSender(plan: SenderPlan): Sender {
  let running = true;
  let n = 0;
  let issued = 0;
  let began = 0;
  let connected = 0;
  let go: () => void = () => {};
  const sender: Sender = {
    accepted: new Set(),
    acceptedAt: new Map(),
    statuses: new Map(),
    latencies: [],
    lastOkAt: 0,
    lastOkSentAt: 0,
    broken: 0,
    ready: new Promise((resolve) => {
      go = resolve;
    }),
    async stop() {
      running = false;
      await Promise.all(lanes);
    },
  };
  function request(): { ids: string[]; bytes: string } {
    const ids: string[] = [];
    const events = Array.from({ length: plan.batch }, () => {
      const id = `${plan.prefix}-${n++}`;
      ids.push(id);
      const more = plan.fields?.(n) ?? '';
      return `{"type":"track","event":"Fault","messageId":"${id}","anonymousId":"a${n % 500}","properties":{"n":${n},"sent_at":${(performance.timeOrigin + performance.now()).toFixed(1)}}${more}}`;
    });
    const body = plan.batch === 1 ? events[0]! : `{"batch":[${events.join(',')}]}`;
    const path = plan.batch === 1 ? '/v1/t' : '/v1/batch';
    const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${plan.key}\r\nContent-Type: application/json\r\n`;
    return { ids, bytes: `${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}` };
  }
  /** Waits until a request is due. False: no more are due. */
  async function turn(): Promise<boolean> {
    while (running) {
      const now = performance.now();
      if (plan.may?.() === false) await sleep(10);
      else if (plan.rate === undefined) return true;
      else {
        const due = began + (issued * 1_000) / plan.rate;
        if (due <= now) {
          issued++;
          return true;
        }
        await sleep(Math.max(1, Math.min(20, due - now)));
      }
    }
    return false;
  }
  async function lane(_: unknown, index: number): Promise<void> {
    // All connect before any sends, and no more at once than a listener's backlog takes: the kernel would drop the data of the
    // others for seconds.
    await sleep(Math.floor(index / 32) * 10);
    let line = await Line.open(plan.port);
    if (++connected === plan.connections) {
      began = performance.now();
      go();
    }
    await sender.ready;
    while (await turn()) {
      line ??= await Line.open(plan.port);
      if (!line) {
        await sleep(25);
        continue;
      }
      const { ids, bytes } = request();
      const sentAt = performance.timeOrigin + performance.now();
      const answer = await line.ask(bytes);
      if (answer === undefined) {
        // Not answered: these ids may or may not have been stored.
        sender.broken++;
        line = undefined;
        continue;
      }
      sender.statuses.set(answer.status, (sender.statuses.get(answer.status) ?? 0) + 1);
      if (answer.status === 200) {
        sender.lastOkAt = performance.now();
        sender.lastOkSentAt = Math.max(sender.lastOkSentAt, sentAt);
        sender.latencies.push(performance.timeOrigin + sender.lastOkAt - sentAt);
        for (const id of ids) sender.accepted.add(id);
        if (plan.keepTimes) for (const id of ids) sender.acceptedAt.set(id, performance.timeOrigin + sender.lastOkAt);
      } else if (plan.restMs !== 0) await sleep(plan.restMs ?? 20);
      if (answer.closed) {
        line.end();
        line = undefined;
      }
    }
    line?.end();
  }
  const lanes = Array.from({ length: plan.connections }, lane);
  return sender;
}

interface Answer {
  status: number;
  closed: boolean;
  head: string;
  body: string;
}
/** One keep-alive connection, one request at a time. */
export class Line {
  readonly socket: Socket;
  #text = '';
  #waiting: ((answer: Answer | undefined) => void) | undefined;
  #dead = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    const die = () => {
      this.#dead = true;
      this.#settle(undefined);
    };
    socket.on('error', die);
    socket.on('close', die);
  }
  static open(port: number): Promise<Line | undefined> {
    return new Promise((resolve) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      socket.once('error', () => resolve(undefined));
      socket.once('connect', () => resolve(new Line(socket)));
    });
  }
  /** Undefined if the connection ended before the response was complete. */
  ask(bytes: string | Buffer): Promise<Answer | undefined> {
    if (this.#dead) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.socket.write(bytes);
    });
  }
  end(): void {
    this.socket.destroy();
  }
  #settle(answer: Answer | undefined): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.(answer);
  }
  #read(chunk: Buffer): void {
    this.#text += chunk.toString('latin1');
    const end = this.#text.indexOf('\r\n\r\n');
    if (end === -1) return;
    const head = this.#text.slice(0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#text.length < end + 4 + length) return;
    const status = Number(head.slice(9, 12));
    const body = this.#text.slice(end + 4, end + 4 + length);
    this.#text = this.#text.slice(end + 4 + length);
    if (status === 100) return;
    this.#settle({ status, closed: /connection: close/i.test(head), head, body });
  }
}
