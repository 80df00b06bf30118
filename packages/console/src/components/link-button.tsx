import { Button, type ButtonProps } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

interface LinkButtonProps extends ButtonProps {
  to: string;
  params?: Record<string, string>;
  search?: object;
  children: ReactNode;
}

/** A link to another page that looks like a button. */
export function LinkButton({ to, params, search, ...props }: LinkButtonProps) {
  // The router types the addresses of its pages; here they come from any of them.
  const target = { to, params, search } as { to: string };
  return <Button component={Link} variant="default" {...target} {...props} />;
}
