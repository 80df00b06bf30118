import { Modal } from '@mantine/core';
import type { ComponentProps } from 'react';
import { SignInPage } from './sign-in-page.tsx';

/** Over the page of somebody whose session has ended: what they typed stays behind it. */
export function SignInAgain(props: ComponentProps<typeof SignInPage>) {
  return (
    <Modal
      opened
      onClose={() => undefined}
      fullScreen
      withCloseButton={false}
      padding={0}
      aria-label="Sign in again"
      transitionProps={{ duration: 0 }}
    >
      <SignInPage {...props} />
    </Modal>
  );
}
