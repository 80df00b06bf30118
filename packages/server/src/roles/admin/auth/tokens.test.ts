import { SignJWT } from 'jose';
import { expect, test } from 'vitest';
import type { SessionUser } from '../../../stores/config/sessions.ts';
import { createTokenReader, issueAccessToken } from './tokens.ts';

const KEY = new Uint8Array(32).fill(7);
const USER = { id: 'usr_1', org_id: 'org_1', role: 'owner' } as SessionUser;
const SECOND = 1_000;

test.each([0, 1, 500, 999])('a token issued %i ms after a full second lives for all of expires_in, and no longer', async (ms) => {
  const issuedAt = 1_800_000_000 * SECOND + ms;
  const token = await issueAccessToken(KEY, USER, 'ses_1', issuedAt, 900 * SECOND);
  const end = issuedAt + 900 * SECOND;
  for (const read of [createTokenReader(KEY), createTokenReader(KEY)]) {
    expect(await read(token, end - 1)).toEqual({ user_id: 'usr_1', session_id: 'ses_1', expires_at: end });
    await expect(read(token, end)).rejects.toMatchObject({ code: 'EXPIRED_TOKEN' });
    await expect(read(token, end + 10 * SECOND)).rejects.toMatchObject({ code: 'EXPIRED_TOKEN' });
  }
});

test('a token of an earlier version ends with its exp claim', async () => {
  const token = await new SignJWT({ org_id: 'org_1', role: 'owner' })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', sid: 'ses_1' })
    .setSubject('usr_1')
    .setIssuedAt(1_000)
    .setExpirationTime(1_900)
    .sign(KEY);
  expect((await createTokenReader(KEY)(token, 1_900 * SECOND - 1)).expires_at).toBe(1_900 * SECOND);
  await expect(createTokenReader(KEY)(token, 1_900 * SECOND)).rejects.toMatchObject({ code: 'EXPIRED_TOKEN' });
});
