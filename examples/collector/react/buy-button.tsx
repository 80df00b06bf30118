'use client';
import { collector } from './collector';

export function BuyButton({ order }: { order: { id: string; total: number } }) {
  const buy = () => collector.track('Order Completed', { order_id: order.id, total: order.total, currency: 'EUR' });
  return (
    <button type="button" onClick={buy}>
      Buy
    </button>
  );
}
