import { Body, Closed } from '@firsthand/core/config/schema.ts';
import { Type } from '@firsthand/core/config/type.ts';
import { ApiError, invalid } from '../../../http/errors.ts';
import { IdParams } from '../../../http/schema.ts';
import { organisationKey } from '../../../stores/config/organisations.ts';
import { disableTotp, enableTotp, readTotpState } from '../../../stores/config/totp.ts';
import { findUser } from '../../../stores/config/users.ts';
import { MAX_PASSWORD } from '../auth/passwords.ts';
import { createSignIn } from '../auth/sign-in.ts';
import { matchingStep, newRecoveryCodes, newTotpSecret, otpauthUrl, readTotpSecret, recoveryCodeHash } from '../auth/totp.ts';
import type { AdminApp, AdminContext } from '../deps.ts';
import { requireOwnerFor } from './users.ts';

const tags = ['Users'];
const CurrentPassword = Type.String({ minLength: 1, maxLength: MAX_PASSWORD, examples: ['correct horse battery'] });
const Secret = Type.String({ description: 'Base32, 20 bytes.', examples: ['JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'] });
const example = { current_password: 'correct horse battery' };

/** Two-step sign-in for local users: an authenticator app, with recovery codes for a lost phone. */
export function totpRoutes(app: AdminApp, context: AdminContext): void {
  const { db, cipher, clock } = context;
  const signIn = createSignIn(context);
  const own = { role: 'viewer', peopleOnly: true, errors: ['INVALID_CREDENTIALS', 'ACCOUNT_LOCKED'] } as const;

  app.get(
    '/users/me/totp',
    {
      config: { role: 'viewer', peopleOnly: true },
      schema: {
        summary: "Read the caller's two-step sign-in",
        tags,
        response: { 200: Closed({ enabled: Type.Boolean(), recovery_codes_left: Type.Integer() }) },
      },
    },
    ({ user }) => readTotpState(db, user.id),
  );

  app.post(
    '/users/me/totp',
    {
      config: { role: 'viewer', peopleOnly: true, unaudited: true },
      schema: {
        summary: 'Propose a secret for an authenticator app',
        description: 'Stores nothing. Show `otpauth_url` as a QR code, then confirm with a code from the app.',
        tags,
        response: { 200: Closed({ secret: Secret, otpauth_url: Type.String() }) },
      },
    },
    async ({ user }) => {
      const secret = newTotpSecret();
      return { secret, otpauth_url: otpauthUrl(user.email, secret) };
    },
  );

  app.post(
    '/users/me/totp/confirm',
    {
      config: own,
      schema: {
        summary: 'Turn on two-step sign-in',
        description:
          'From now on sign-in needs `totp_code` or `recovery_code`. The recovery codes are shown only in this response; each works once. Replaces an earlier secret and its codes.',
        tags,
        body: Body({ current_password: CurrentPassword, secret: Secret, code: Type.String({ examples: ['123456'] }) }, [], {
          examples: [{ ...example, secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP', code: '123456' }],
        }),
        response: { 200: Closed({ recovery_codes: Type.Array(Type.String()) }) },
      },
    },
    async ({ body, user }) => {
      await signIn.checkPassword(user, body.current_password);
      const secret = readTotpSecret(body.secret);
      if (secret === undefined) throw invalid('secret', 'must be the secret that was proposed');
      const step = matchingStep(secret, body.code, clock.now());
      if (step === undefined) throw invalid('code', 'is not a current code of this secret');
      const recovery_codes = newRecoveryCodes();
      return await context.write(user, 'user.totp_enabled', async (tx, change) => {
        const sealedSecret = cipher.sealText(await organisationKey(tx, user.org_id), body.secret);
        await enableTotp(tx, user.id, {
          sealedSecret,
          step,
          recoveryCodeHashes: recovery_codes.map((code) => recoveryCodeHash(user.id, code)),
        });
        change.audit({ id: user.id });
        return { recovery_codes };
      });
    },
  );

  app.post(
    '/users/me/totp/disable',
    {
      config: own,
      schema: {
        summary: 'Turn off two-step sign-in',
        tags,
        body: Body({ current_password: CurrentPassword }, [], { examples: [example] }),
        response: { 204: Type.Null({ description: 'Turned off' }) },
      },
    },
    async ({ body, user }, reply) => {
      await signIn.checkPassword(user, body.current_password);
      await context.write(user, 'user.totp_disabled', async (tx, change) => {
        await disableTotp(tx, user.id);
        change.audit({ id: user.id });
      });
      return reply.code(204).send(null);
    },
  );

  app.delete(
    '/users/:id/totp',
    {
      config: { role: 'admin', peopleOnly: true },
      schema: {
        summary: "Turn off a user's two-step sign-in",
        description: 'For users who lost both phone and recovery codes. For an owner this needs an owner.',
        tags,
        params: IdParams,
        response: { 204: Type.Null({ description: 'Turned off' }) },
      },
    },
    async ({ params, user }, reply) => {
      await context.write(user, 'user.totp_disabled', async (tx, change) => {
        const target = await findUser(tx, user.org_id, params.id);
        if (target === undefined) throw new ApiError('NOT_FOUND', { message: 'There is no such user.' });
        requireOwnerFor(user, [target.role]);
        await disableTotp(tx, target.id);
        change.audit({ id: target.id });
      });
      return reply.code(204).send(null);
    },
  );
}
