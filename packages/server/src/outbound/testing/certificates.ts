/** X.509 certificates for tests, written as DER: Node can read certificates but not make them. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

export interface TestCertificate {
  certificate: string;
  private_key: string;
}
interface Authority extends TestCertificate {
  issue(name: string, options?: Validity): TestCertificate;
}
interface Validity {
  from?: Date;
  to?: Date;
}

const DAY_MS = 86_400_000;
const SEQUENCE = 0x30;
const SET = 0x31;

function der(tag: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const length = body.length;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}
const oid = (...bytes: number[]) => der(0x06, Buffer.from(bytes));
const ECDSA_SHA256 = der(SEQUENCE, oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const nameOf = (text: string) => der(SEQUENCE, der(SET, der(SEQUENCE, oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(text)))));
/** GeneralizedTime, `YYYYMMDDHHMMSSZ`. */
const timeOf = (date: Date) => der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]|\.\d+/g, '')}`));
const extension = (id: Buffer, critical: boolean, value: Buffer) =>
  der(SEQUENCE, id, ...(critical ? [der(0x01, Buffer.from([0xff]))] : []), der(0x04, value));
const pem = (label: string, bytes: Buffer) =>
  `-----BEGIN ${label}-----\n${bytes.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END ${label}-----\n`;

function make(subject: string, issuer: string, signer: KeyObject | undefined, isAuthority: boolean, { from, to }: Validity = {}) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const now = Date.now();
  const serial = Buffer.concat([Buffer.from([1]), randomBytes(8)]);
  const extensions = isAuthority
    ? [extension(oid(0x55, 0x1d, 0x13), true, der(SEQUENCE, der(0x01, Buffer.from([0xff]))))]
    : [extension(oid(0x55, 0x1d, 0x11), false, der(SEQUENCE, der(0x87, Buffer.from([127, 0, 0, 1])), der(0x82, Buffer.from('localhost'))))];
  const unsigned = der(
    SEQUENCE,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ECDSA_SHA256,
    nameOf(issuer),
    der(SEQUENCE, timeOf(from ?? new Date(now - DAY_MS)), timeOf(to ?? new Date(now + 3650 * DAY_MS))),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(SEQUENCE, ...extensions)),
  );
  const signature = sign('sha256', unsigned, signer ?? privateKey);
  const certificate = der(SEQUENCE, unsigned, ECDSA_SHA256, der(0x03, Buffer.from([0]), signature));
  return {
    key: privateKey,
    certificate: pem('CERTIFICATE', certificate),
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** An authority whose certificates are for 127.0.0.1 and localhost. */
export function testAuthority(name: string): Authority {
  const own = make(name, name, undefined, true);
  const { certificate, private_key } = own;
  return { certificate, private_key, issue: (subject, options) => withoutKey(make(subject, name, own.key, false, options)) };
}
function withoutKey({ certificate, private_key }: TestCertificate): TestCertificate {
  return { certificate, private_key };
}
