/** Signs with customers' private keys: the part of vendor authentication that core, which has no Node, leaves to its host. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { Lru } from '@firsthand/core/context/lru.ts';
import type { KeyOperations } from '@firsthand/core/vendor/auth.ts';

/** Parsing a key costs more than signing with it. */
const parsed = new Lru<string, KeyObject>(200);

function keyOf(pem: string): KeyObject {
  const known = parsed.get(pem);
  if (known) return known;
  // A key pasted from a JSON file often has its line breaks as two characters.
  const key = createPrivateKey(pem.replaceAll('\\n', '\n'));
  parsed.set(pem, key);
  return key;
}

function certificateOf(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem.replaceAll('\\n', '\n'));
  } catch {
    return undefined; // the caller says so without quoting the text
  }
}
function parsedKey(pem: string): KeyObject | undefined {
  try {
    return keyOf(pem);
  } catch {
    return undefined; // as above
  }
}

export const privateKeys: KeyOperations = {
  sign(algorithm, pem, data) {
    return algorithm === 'ES256'
      ? sign('sha256', data, { key: keyOf(pem), dsaEncoding: 'ieee-p1363' })
      : sign('RSA-SHA256', data, keyOf(pem));
  },
  fingerprint(pem) {
    return createHash('sha256')
      .update(createPublicKey(keyOf(pem)).export({ type: 'spki', format: 'der' }))
      .digest();
  },
  certificate(certificate, privateKey) {
    const parsedCertificate = certificateOf(certificate);
    if (!parsedCertificate) return { ok: false, message: 'is not a certificate in PEM form' };
    const key = parsedKey(privateKey);
    if (!key) return { ok: false, message: 'has a private key that is not in PEM form, or encrypted with a passphrase' };
    if (!parsedCertificate.checkPrivateKey(key)) return { ok: false, message: 'does not belong to the private key' };
    return { ok: true, valid_to: Date.parse(parsedCertificate.validTo) };
  },
};
