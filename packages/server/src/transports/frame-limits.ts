/**
 * Limits how much memory a broker can make its client allocate. The clients of Kafka and NATS buffer a frame of any announced length before
 * they hand it over. So the decrypted bytes are inspected as they leave the socket.
 */
import type { Inspect, Inspector } from '../outbound/guarded-sockets.ts';

/** A fetch asks for 8 MB. One batch of messages may be larger than that. */
export const MAX_KAFKA_FRAME = 32 * 1_048_576;
/** Incomplete frames of all brokers of one client together: a broker may name hundreds of others. */
const MAX_KAFKA_HELD = 96 * 1_048_576;
/** The largest `max_payload` that NATS recommends has 8 MB. */
export const MAX_NATS_MESSAGE = 16 * 1_048_576;
const MAX_NATS_LINE = 1_048_576;

/** A frame is its length in four bytes, and the data. */
export function kafkaFrames(): Inspect {
  let heldByAll = 0;
  return (): Inspector => {
    const header = Buffer.alloc(4);
    let headerBytes = 0;
    let left = 0;
    let held = 0;
    const hold = (bytes: number) => {
      heldByAll += bytes - held;
      held = bytes;
    };
    return {
      read(chunk) {
        for (let at = 0; at < chunk.length; ) {
          if (left > 0) {
            const taken = Math.min(left, chunk.length - at);
            left -= taken;
            at += taken;
            hold(left === 0 ? 0 : held + taken);
            continue;
          }
          header[headerBytes++] = chunk[at++] ?? 0;
          if (headerBytes < 4) continue;
          headerBytes = 0;
          left = header.readUInt32BE(0);
          if (left > MAX_KAFKA_FRAME) return `the broker sends ${left} bytes at once, more than ${MAX_KAFKA_FRAME}`;
        }
        return heldByAll > MAX_KAFKA_HELD ? `the brokers send more than ${MAX_KAFKA_HELD} bytes at once` : undefined;
      },
      closed: () => hold(0),
    };
  };
}

const NEWLINE = 10;
const MESSAGE = /^H?MSG\s.*\s(\d+)\s*$/is;

/** Lines, and after `MSG` and `HMSG` as many bytes as the line says. */
export function natsMessages(): Inspect {
  return (): Inspector => {
    let line = '';
    let left = 0;
    return {
      read(chunk) {
        for (let at = 0; at < chunk.length; ) {
          if (left > 0) {
            const taken = Math.min(left, chunk.length - at);
            left -= taken;
            at += taken;
            continue;
          }
          const end = chunk.indexOf(NEWLINE, at);
          line += chunk.toString('latin1', at, end === -1 ? chunk.length : end);
          if (line.length > MAX_NATS_LINE) return `the server sends a line of more than ${MAX_NATS_LINE} bytes`;
          if (end === -1) return undefined;
          at = end + 1;
          const size = MESSAGE.exec(line)?.[1];
          line = '';
          if (size === undefined) continue;
          if (size.length > 10 || Number(size) > MAX_NATS_MESSAGE)
            return `the server sends a message of ${size.slice(0, 20)} bytes, more than ${MAX_NATS_MESSAGE}`;
          left = Number(size) + 2;
        }
        return undefined;
      },
      closed: () => undefined,
    };
  };
}
