/** AWS services at a local address: requests with a wrong signature are refused, as AWS refuses them. */
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AwsCall {
  /** `AmazonSQS.ReceiveMessage`; the path's action for the query protocol. */
  target: string;
  body: Buffer;
  json: Record<string, unknown>;
}
export type AwsAnswer = { status: number; body: unknown };
export interface AwsServer {
  url: string;
  calls: AwsCall[];
  stop(): Promise<void>;
}
export const AWS_KEY = { access_key_id: 'AKIATEST', secret_access_key: 'a-secret-of-aws' };

export async function startAws(answer: (call: AwsCall) => AwsAnswer | Promise<AwsAnswer>): Promise<AwsServer> {
  const calls: AwsCall[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', async () => {
      const body = Buffer.concat(chunks);
      const reply = ({ status, body: answered }: AwsAnswer) => {
        res.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
        res.end(typeof answered === 'string' ? answered : JSON.stringify(answered));
      };
      const fault = signatureFault(req, body);
      if (fault !== undefined) {
        reply({ status: 403, body: { __type: `com.amazonaws#${fault}`, message: 'The request signature does not match.' } });
        return;
      }
      const call = { target: String(req.headers['x-amz-target'] ?? ''), body, json: jsonOf(body) };
      calls.push(call);
      reply(await answer(call));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function jsonOf(body: Buffer): Record<string, unknown> {
  try {
    return JSON.parse(body.toString()) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** Signature Version 4 from its documentation, apart from the code under test. */
export function signatureFault(req: IncomingMessage, body: Buffer, credentials = AWS_KEY): string | undefined {
  const given =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      req.headers.authorization ?? '',
    );
  if (!given) return 'MissingAuthenticationTokenException';
  const [, key, day = '', region = '', service = '', names = '', signature] = given;
  if (key !== credentials.access_key_id) return 'UnrecognizedClientException';
  const stamp = String(req.headers['x-amz-date']);
  const bodyHash = createHash('sha256').update(body).digest('hex');
  const url = new URL(req.url ?? '/', 'http://x');
  const query = [...url.searchParams].map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).sort();
  const headers = names.split(';').map((name) => `${name}:${String(req.headers[name] ?? '').trim()}\n`);
  const canonical = [req.method, url.pathname, query.join('&'), headers.join(''), names, bodyHash].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', stamp, scope, createHash('sha256').update(canonical).digest('hex')].join('\n');
  const sign = (secret: Buffer | string, text: string) => createHmac('sha256', secret).update(text).digest();
  const signing = sign(sign(sign(sign(`AWS4${credentials.secret_access_key}`, day), region), service), 'aws4_request');
  return createHmac('sha256', signing).update(toSign).digest('hex') === signature ? undefined : 'InvalidSignatureException';
}
