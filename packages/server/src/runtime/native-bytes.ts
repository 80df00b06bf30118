/** Importing this file gives core Node's hashes and base64. Every process that maps or delivers events imports it. */
import { createHmac, hash } from 'node:crypto';
import { type NativeBytes, useNativeBytes } from '@firsthand/core/hash/hash.ts';

export const NATIVE: NativeBytes = {
  sha256: (input) => hash('sha256', input, 'hex'),
  hmacSha256(key, parts) {
    const mac = createHmac('sha256', key);
    for (const part of parts) mac.update(part);
    return mac.digest();
  },
  base64: ({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength).toString('base64'),
};

useNativeBytes(NATIVE);
