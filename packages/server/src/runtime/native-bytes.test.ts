import { IN_JAVASCRIPT } from '@firsthand/core/hash/hash.ts';
import { compileAuth } from '@firsthand/core/vendor/auth.ts';
import { signAws } from '@firsthand/core/vendor/sigv4.ts';
import { compileValue } from '@firsthand/core/vendor/value.ts';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { NATIVE } from './native-bytes.ts';

afterEach(() => vi.restoreAllMocks());

test('the results are those of core', () => {
  const bytes = fc.uint8Array({ maxLength: 200 });
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), bytes, bytes, (text, one, other) => {
      expect(NATIVE.sha256(text)).toBe(IN_JAVASCRIPT.sha256(text));
      expect(NATIVE.sha256(one)).toBe(IN_JAVASCRIPT.sha256(one));
      expect([...NATIVE.hmacSha256(other, [one, other])]).toEqual([...IN_JAVASCRIPT.hmacSha256(other, [one, other])]);
      // A view of a larger buffer.
      expect(NATIVE.base64(one.subarray(1))).toBe(IN_JAVASCRIPT.base64(one.subarray(1)));
    }),
    { numRuns: 50 },
  );
  // Core works in pieces of 8 KB.
  const large = Uint8Array.from({ length: 20_000 }, (_, i) => i % 251);
  expect(NATIVE.base64(large)).toBe(IN_JAVASCRIPT.base64(large));
});

describe('large bodies: in JavaScript, base64 of 1 MB held the loop for 70 to 130 ms, hash and HMAC for 10 ms each', () => {
  const body = new Uint8Array(1_000_000);
  const request = () => ({ method: 'POST', url: 'https://vendor.example/', headers: {}, body });
  const context = { now: 0, attempt: 1, request_id: 'r' };

  test('Amazon signs a native hash', () => {
    const sha256 = vi.spyOn(NATIVE, 'sha256');
    signAws(request(), { access_key_id: 'a', secret_access_key: 'b', region: 'c', service: 'd' }, 0);
    expect(sha256).toHaveBeenCalledWith(body);
  });

  test.each([
    { kind: 'hmac', header: 'X-Signature', secret: 's' },
    { kind: 'standard_webhooks', secret: 'whsec_c2VjcmV0' },
  ] as const)('$kind is native', (definition) => {
    const hmac = vi.spyOn(NATIVE, 'hmacSha256');
    const auth = compileAuth(definition, { parameters: {}, redirect: (url) => url, where: 'auth' }, []);
    auth.sign?.(request(), context);
    expect(hmac.mock.lastCall?.[1].at(-1)).toBe(body);
  });

  test('a payload in base64 is native', () => {
    const base64 = vi.spyOn(NATIVE, 'base64');
    const { render } = compileValue({ $base64: 'payload' }, {});
    expect(render({ payload: { a: 1 } })).toBe('eyJhIjoxfQ==');
    expect(base64).toHaveBeenCalledOnce();
  });
});
