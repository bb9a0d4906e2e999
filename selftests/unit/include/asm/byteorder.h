/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _UNIT_ASM_BYTEORDER_H
#define _UNIT_ASM_BYTEORDER_H

#include_next <asm/byteorder.h>

#define cpu_to_le16	__cpu_to_le16
#define cpu_to_le32	__cpu_to_le32
#define cpu_to_le64	__cpu_to_le64
#define cpu_to_be16	__cpu_to_be16
#define cpu_to_be32	__cpu_to_be32
#define cpu_to_be64	__cpu_to_be64
#define le16_to_cpu	__le16_to_cpu
#define le32_to_cpu	__le32_to_cpu
#define le64_to_cpu	__le64_to_cpu
#define be16_to_cpu	__be16_to_cpu
#define be32_to_cpu	__be32_to_cpu
#define be64_to_cpu	__be64_to_cpu

#endif /* _UNIT_ASM_BYTEORDER_H */
