-- A small shop: what it has, who buys it, and what sells.
CREATE TABLE IF NOT EXISTS product (
    id INTEGER PRIMARY KEY,
    name VARCHAR(80) NOT NULL UNIQUE,
    price NUMERIC(10, 2) NOT NULL CHECK (price >= 0),
    tags TEXT[],
    added TIMESTAMP DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE sale (
    id BIGINT NOT NULL,
    product_id INTEGER NOT NULL REFERENCES product (id),
    buyer VARCHAR(80),
    amount INTEGER DEFAULT 1,
    CONSTRAINT sale_key PRIMARY KEY (id),
    FOREIGN KEY (product_id) REFERENCES product (id),
    CHECK (amount > 0)
);

CREATE UNIQUE INDEX sale_buyer ON sale (buyer, product_id);

BEGIN;
INSERT INTO product (id, name, price) VALUES
    (1, 'tea; green', 3.50),
    (2, 'the baker''s bread', 2.80), /* sold out
       most days */
    (3, 'salt', DEFAULT);
UPDATE product SET price = price * 1.1, name = lower(name) || '!' WHERE id IN (1, 3);
DELETE FROM sale WHERE amount IS NULL OR NOT buyer LIKE 'a%';
COMMIT;

CREATE VIEW best AS
    SELECT p.name, sum(s.amount * p.price) AS total, count(DISTINCT s.buyer) buyers
    FROM product AS p
        LEFT OUTER JOIN sale s ON (s.product_id = p.id)
        CROSS JOIN (SELECT max(price) AS most FROM product) top
    WHERE p.price BETWEEN 0.5 AND top.most
        AND s.buyer IS NOT NULL
        AND EXISTS (SELECT 1 FROM sale WHERE sale.product_id = p.id)
    GROUP BY p.name
    HAVING count(*) > 2
    ORDER BY total DESC NULLS LAST, p.name
    LIMIT 10 OFFSET 0;

with recursive tree (id, depth) as (
    select id, 0 from product where id = 1
    union all
    select p.id, tree.depth + 1 from product p join tree on p.id = tree.id + 1
)
select id, case when depth = 0 then 'root' when depth < 3 then 'near' else 'far' end as place
from tree;

SELECT id,
       row_number() OVER (PARTITION BY buyer ORDER BY amount DESC) AS place,
       CAST(amount AS NUMERIC(8, 1)) / 2,
       coalesce(buyer, 'nobody')::text,
       extract(year from current_timestamp),
       array[1, 2, 3][1] = any ('{1,2}'::int[])
FROM sale, generate_series(1, $1) AS g(n)
WHERE (amount, id) = (1, 2) AND buyer NOT IN ('x', 'y') OR (amount & 3) <> 0
EXCEPT
SELECT 1, 2, 3, '4', 5, TRUE;

ALTER TABLE sale ADD COLUMN note TEXT DEFAULT '--';
CREATE OR REPLACE FUNCTION total(integer) RETURNS numeric
    LANGUAGE sql STABLE AS $$ SELECT sum(amount) FROM sale WHERE product_id = $1; $$;
GRANT SELECT ON best TO PUBLIC;
DROP VIEW IF EXISTS best;
ROLLBACK
