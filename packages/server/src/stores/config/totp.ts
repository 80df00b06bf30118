import type { Db } from './schema.ts';

export async function enableTotp(
  tx: Db,
  userId: string,
  totp: { sealedSecret: string; step: number; recoveryCodeHashes: readonly string[] },
): Promise<void> {
  await tx.updateTable('users').set({ totp_secret: totp.sealedSecret, totp_last_step: totp.step }).where('id', '=', userId).execute();
  await tx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute();
  await tx
    .insertInto('recovery_codes')
    .values(totp.recoveryCodeHashes.map((code_hash) => ({ code_hash, user_id: userId })))
    .execute();
}

export async function disableTotp(tx: Db, userId: string): Promise<void> {
  await tx.updateTable('users').set({ totp_secret: null }).where('id', '=', userId).execute();
  await tx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute();
}

export async function readTotpState(db: Db, userId: string): Promise<{ enabled: boolean; recovery_codes_left: number }> {
  const user = await db.selectFrom('users').select('totp_secret').where('id', '=', userId).executeTakeFirst();
  const codes = await db.selectFrom('recovery_codes').select('code_hash').where('user_id', '=', userId).execute();
  return { enabled: user !== undefined && user.totp_secret !== null, recovery_codes_left: codes.length };
}

/** Returns true once per step: one of several parallel sign-ins with the same code wins, and an older code never works again. */
export async function useTotpStep(db: Db, userId: string, step: number): Promise<boolean> {
  const row = await db
    .updateTable('users')
    .set({ totp_last_step: step })
    .where('id', '=', userId)
    .where('totp_last_step', '<', step)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function useRecoveryCode(db: Db, userId: string, codeHash: string): Promise<boolean> {
  const row = await db
    .deleteFrom('recovery_codes')
    .where('user_id', '=', userId)
    .where('code_hash', '=', codeHash)
    .returning('code_hash')
    .executeTakeFirst();
  return row !== undefined;
}
