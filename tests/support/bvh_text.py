"""A person as the text of a BVH file."""

PERSON = """HIERARCHY
ROOT Hips
{
 OFFSET 0 0 0
 CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
 JOINT Chest
 {
  OFFSET 0 30 0
  CHANNELS 3 Zrotation Xrotation Yrotation
  JOINT Head { OFFSET 0 30 0 CHANNELS 3 Zrotation Xrotation Yrotation End Site { OFFSET 0 20 0 } }
%s
 }
%s
}
"""


def arm(side, x):
    return (f"JOINT {side}Arm {{ OFFSET {x} 20 0 CHANNELS 3 Zrotation Xrotation Yrotation\n"
            f"JOINT {side}ForeArm {{ OFFSET {1.5 * x} 0 0 CHANNELS 3 Zrotation Xrotation Yrotation"
            f"\nJOINT {side}Hand {{ OFFSET {1.5 * x} 0 0 CHANNELS 3 Zrotation Xrotation Yrotation"
            f" End Site {{ OFFSET {x / 2} 0 0 }} }} }} }}\n")


def leg(side, x):
    return (f"JOINT {side}UpLeg {{ OFFSET {x} 0 0 CHANNELS 3 Zrotation Xrotation Yrotation\n"
            f"JOINT {side}Leg {{ OFFSET 0 -42 0 CHANNELS 3 Zrotation Xrotation Yrotation\n"
            f"JOINT {side}Foot {{ OFFSET 0 -42 0 CHANNELS 3 Zrotation Xrotation Yrotation\n"
            f"End Site {{ OFFSET 0 -6 14 }} }} }} }}\n")


HIERARCHY = PERSON % (arm("Left", 18) + arm("Right", -18), leg("Left", 9) + leg("Right", -9))
CHANNELS = 6 + 3 * 14


def row(x=0.0, y=90.0, z=0.0, turn=0.0):
    return " ".join(map(str, [x, y, z, 0, 0, turn] + [0] * (CHANNELS - 6)))


def person(rows=None, frames=None, frame_time="0.0333333", hierarchy=HIERARCHY):
    rows = [row(), row(), row()] if rows is None else rows
    count = len(rows) if frames is None else frames
    return hierarchy + f"MOTION\nFrames: {count}\nFrame Time: {frame_time}\n" + "\n".join(rows)
