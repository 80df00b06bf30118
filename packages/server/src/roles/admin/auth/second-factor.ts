import { ApiError } from '../../../http/errors.ts';
import { organisationKey } from '../../../stores/config/organisations.ts';
import { useRecoveryCode, useTotpStep } from '../../../stores/config/totp.ts';
import type { AdminDeps } from '../deps.ts';
import { matchingStep, readTotpSecret, recoveryCodeHash } from './totp.ts';

export interface SecondFactor {
  totp_code?: string | undefined;
  recovery_code?: string | undefined;
}

/** Checks the code of a user whose password was right. Each code works once. */
export function createSecondFactor({ db, cipher, clock }: Pick<AdminDeps, 'db' | 'cipher' | 'clock'>) {
  return async (user: { id: string; org_id: string; totp_secret: string | null }, given: SecondFactor): Promise<boolean> => {
    if (user.totp_secret === null) return true;
    const { totp_code, recovery_code } = given;
    if (recovery_code !== undefined) return await useRecoveryCode(db, user.id, recoveryCodeHash(user.id, recovery_code));
    if (totp_code === undefined) throw new ApiError('TOTP_REQUIRED');
    const secret = readTotpSecret(cipher.openText(await organisationKey(db, user.org_id), user.totp_secret));
    const step = secret && matchingStep(secret, totp_code, clock.now());
    return step !== undefined && (await useTotpStep(db, user.id, step));
  };
}
